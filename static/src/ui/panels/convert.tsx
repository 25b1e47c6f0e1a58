/** Converting dumps that lie below the log directory, where the server was started to allow it. */
import { signal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { goldenFor, sidesOf } from '../../core/side_names';
import { local, say, t } from '../../i18n';
import { graph, runs } from '../../state/app';
import { cancel, conversion, dumps, failure, openResult, start, wantDumps, type Conversion } from '../../state/convert';
import { policies, templates, wantTemplates } from '../../state/mapping';
import { marks } from '../../state/marks';

const METHODS = ['auto', 'exact', 'fuzzy', 'mapping'] as const;
const target = signal('');
const golden = signal<string | null>(null); // null: nobody has chosen
const method = signal<(typeof METHODS)[number]>('auto');
const policy = signal('default');
const overflow = signal(false);
const withMatches = signal(false);
const mapping = signal<{ readonly name: string; readonly text: string } | null>(null);

export function mayConvert(): boolean {
  return runs.value?.converting === true;
}

function value(event: Event): string {
  return (event.currentTarget as HTMLSelectElement).value;
}

function Side({ label, value: chosen, none, choose }: { readonly label: string; readonly value: string; readonly none: string | null; readonly choose: (name: string) => void }) {
  return (
    <label class="field">
      {label}
      <select value={chosen} onChange={(event) => choose(value(event))}>
        {none === null ? null : <option value="">{none}</option>}
        {(dumps.value ?? []).map((dump) => (
          <option key={dump.name} value={dump.name}>
            {dump.ranks > 1 ? `${dump.name} (${dump.ranks})` : dump.name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A shipped mapping, or a file of one's own. */
function MappingChoice() {
  const known = templates.value ?? [];
  const load = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement;
    const file = input.files?.[0];
    if (file) void file.text().then((text) => (mapping.value = { name: file.name, text: text.replace(/^\ufeff/, '') }));
    input.value = '';
  };
  const choose = (name: string): void => {
    const found = known.find((item) => `${item.name}.yaml` === name);
    mapping.value = found ? { name, text: found.text } : null;
  };
  return (
    <>
      <label class="field">
        {t('convert.mapping')}
        <select value={mapping.value?.name ?? ''} onChange={(event) => choose(value(event))}>
          <option value="">{t('convert.noMapping')}</option>
          {mapping.value && !known.some((item) => `${item.name}.yaml` === mapping.value?.name) ? <option value={mapping.value.name}>{mapping.value.name}</option> : null}
          {known.map((item) => (
            <option key={item.name} value={`${item.name}.yaml`} title={local({ en: item.title, zh: item.title_zh })}>
              {item.name}
            </option>
          ))}
        </select>
      </label>
      <div class="buttons">
        <label class="action file">
          {t('mapping.load')}
          <input type="file" accept=".yaml,.yml" onChange={load} />
        </label>
      </div>
    </>
  );
}

function Check({ label, on }: { readonly label: string; readonly on: Signal<boolean> }) {
  return (
    <label class="check">
      <input type="checkbox" checked={on.value} onChange={(event) => (on.value = (event.currentTarget as HTMLInputElement).checked)} /> {label}
    </label>
  );
}

/** What only a comparison of two sides has. */
function Comparing() {
  return (
    <>
      <label class="field">
        {t('convert.match')}
        <select value={method.value} onChange={(event) => (method.value = value(event) as (typeof METHODS)[number])}>
          {METHODS.map((id) => (
            <option key={id} value={id}>
              {t(`convert.match.${id}`)}
            </option>
          ))}
        </select>
      </label>
      <MappingChoice />
      <label class="field">
        {t('convert.policy')}
        <select value={policy.value} onChange={(event) => (policy.value = value(event))}>
          {(policies.value ?? ['default']).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {marks.value.matches.length > 0 ? <Check label={t('convert.matches')} on={withMatches} /> : null}
    </>
  );
}

/** Both sides: as a person chose them, else as the names of the dumps tell. */
function sides(all: readonly string[]): { readonly target: string; readonly golden: string } {
  const guess = all.length === 1 ? all[0] : sidesOf(all)?.target;
  const chosen = all.includes(target.value) ? target.value : (guess ?? '');
  const given = golden.value !== null && (golden.value === '' || all.includes(golden.value));
  return { target: chosen, golden: given ? (golden.value ?? '') : goldenFor(chosen, all) };
}

function Form() {
  if (dumps.value === null) return <p class="dim">{t('convert.looking')}</p>;
  if (dumps.value.length === 0) return <p class="dim">{t('convert.noDumps')}</p>;
  const chosen = sides(dumps.value.map((dump) => dump.name));
  const compared = chosen.golden !== '';
  const swap = (): void => {
    target.value = chosen.golden;
    golden.value = chosen.target;
  };
  const begin = (event: Event): void => {
    event.preventDefault();
    void start({
      ...chosen,
      match: method.value,
      policy: policy.value,
      overflow: overflow.value,
      mapping: compared ? mapping.value : null,
      matches: compared && withMatches.value ? marks.value.matches : [],
    });
  };
  return (
    <form class="rule-form" onSubmit={begin}>
      <Side label={t('convert.target')} value={chosen.target} none={chosen.target === '' ? t('convert.choose') : null} choose={(name) => (target.value = name)} />
      <Side label={t('convert.golden')} value={chosen.golden} none={t('convert.noGolden')} choose={(name) => (golden.value = name)} />
      <div class="buttons">
        <button class="action" type="button" disabled={chosen.target === '' || !compared} title={t('convert.swapHint')} onClick={swap}>
          ⇅ {t('convert.swap')}
        </button>
      </div>
      {golden.value === null && compared ? <p class="dim">{t('convert.guessed')}</p> : null}
      {compared ? <Comparing /> : null}
      <Check label={t('convert.overflow')} on={overflow} />
      <div class="buttons stays">
        <button class="action primary" type="submit" disabled={chosen.target === ''}>
          {t('convert.start')}
        </button>
      </div>
    </form>
  );
}

function Running({ now }: { readonly now: Conversion }) {
  const last = now.lines[now.lines.length - 1] ?? '';
  return (
    <section class="block convert-page" aria-live="polite">
      {now.state === 'running' ? (
        <>
          <progress max={100} value={now.percent} aria-label={t('convert.title')} />
          <p class="dim">{t('convert.running', { stage: last || t('convert.title'), percent: now.percent })}</p>
          <div class="buttons">
            <button class="action" onClick={() => void cancel()}>
              {t('convert.cancel')}
            </button>
          </div>
        </>
      ) : null}
      {now.state === 'done' ? <p>{t('convert.done', { run: now.run })}</p> : null}
      {now.state === 'failed' || now.state === 'cancelled' ? (
        <p class={now.state === 'failed' ? 'problem' : ''} role="alert">
          {now.state === 'failed' ? `${t('convert.failed')} ${say(now.said) || now.error}` : t('convert.cancelled')}
        </p>
      ) : null}
      {now.state !== 'running' ? (
        <div class="buttons">
          {now.state === 'done' ? (
            <button class="action primary" onClick={() => void openResult()}>
              {t('convert.open')}
            </button>
          ) : null}
          <button class="action" onClick={() => (conversion.value = null)}>
            {t('convert.again')}
          </button>
        </div>
      ) : null}
    </section>
  );
}

export function ConvertPanel() {
  useEffect(() => {
    void wantDumps();
    void wantTemplates();
  }, [graph.value]);
  return (
    <div class="side-panel scrolls convert-page" tabIndex={0} role="region" aria-label={t('convert.title')}>
      <h2>{t('convert.title')}</h2>
      <p class="dim">{t('convert.how')}</p>
      {failure.value ? (
        <p class="problem" role="alert">
          {local(failure.value)}
        </p>
      ) : null}
      {conversion.value ? <Running now={conversion.value} /> : <Form />}
    </div>
  );
}
