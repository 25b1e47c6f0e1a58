/** Converting dumps that lie below the log directory, where the server was started to allow it. */
import { signal } from '@preact/signals';
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

function Form() {
  const list = dumps.value;
  if (list === null) return <p class="dim">{t('convert.looking')}</p>;
  if (list.length === 0) return <p class="dim">{t('convert.noDumps')}</p>;
  const all = list.map((dump) => dump.name);
  const guess = all.length === 1 ? all[0] : sidesOf(all)?.target;
  const chosenTarget = all.includes(target.value) ? target.value : (guess ?? '');
  const named = goldenFor(chosenTarget, all);
  const chosenGolden = golden.value !== null && (golden.value === '' || all.includes(golden.value)) ? golden.value : named;
  const swap = (): void => {
    target.value = chosenGolden;
    golden.value = chosenTarget;
  };
  const known = templates.value ?? [];
  const begin = (event: Event): void => {
    event.preventDefault();
    void start({
      target: chosenTarget,
      golden: chosenGolden,
      match: method.value,
      policy: policy.value,
      overflow: overflow.value,
      mapping: chosenGolden ? mapping.value : null,
      matches: chosenGolden && withMatches.value ? marks.value.matches : [],
    });
  };
  const load = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement;
    const file = input.files?.[0];
    if (file) void file.text().then((text) => (mapping.value = { name: file.name, text: text.replace(/^\ufeff/, '') }));
    input.value = '';
  };
  const options = list.map((dump) => (
    <option key={dump.name} value={dump.name}>
      {dump.ranks > 1 ? `${dump.name} (${dump.ranks})` : dump.name}
    </option>
  ));
  return (
    <form class="rule-form" onSubmit={begin}>
      <label class="field">
        {t('convert.target')}
        <select value={chosenTarget} onChange={(event) => (target.value = value(event))}>
          {chosenTarget === '' ? <option value="">{t('convert.choose')}</option> : null}
          {options}
        </select>
      </label>
      <label class="field">
        {t('convert.golden')}
        <select value={chosenGolden} onChange={(event) => (golden.value = value(event))}>
          <option value="">{t('convert.noGolden')}</option>
          {options}
        </select>
      </label>
      <div class="buttons">
        <button class="action" type="button" disabled={chosenTarget === '' || chosenGolden === ''} title={t('convert.swapHint')} onClick={swap}>
          ⇅ {t('convert.swap')}
        </button>
      </div>
      {golden.value === null && chosenGolden !== '' ? <p class="dim">{t('convert.guessed')}</p> : null}
      {chosenGolden ? (
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
          <label class="field">
            {t('convert.mapping')}
            <select
              value={mapping.value?.name ?? ''}
              onChange={(event) => {
                const found = known.find((item) => `${item.name}.yaml` === value(event));
                mapping.value = found ? { name: `${found.name}.yaml`, text: found.text } : null;
              }}
            >
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
          {marks.value.matches.length > 0 ? (
            <label class="check">
              <input type="checkbox" checked={withMatches.value} onChange={(event) => (withMatches.value = (event.currentTarget as HTMLInputElement).checked)} /> {t('convert.matches')}
            </label>
          ) : null}
        </>
      ) : null}
      <label class="check">
        <input type="checkbox" checked={overflow.value} onChange={(event) => (overflow.value = (event.currentTarget as HTMLInputElement).checked)} /> {t('convert.overflow')}
      </label>
      <div class="buttons">
        <button class="action primary" type="submit" disabled={chosenTarget === ''}>
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
