/** The layer mapping: rules, text, what stays unmatched and proposals in tabs; edited with its effect shown before it is applied. */
import { useEffect, useRef } from 'preact/hooks';
import { lineRange, placeIn } from '../../core/mapping_text';
import { fileName } from '../../core/file_name';
import { formatCount } from '../../core/format';
import type { Graph } from '../../core/types';
import { local, t } from '../../i18n';
import { exported, graph } from '../../state/app';
import { applyDraft, changedDraft, draft, draftName, draftProblem, edit, effectOfDraft, judgeBy, look, nameInForce, policies, previewing, proposeRules, revertDraft, templates, wantTemplates } from '../../state/mapping';
import { marks } from '../../state/marks';
import { problemText } from '../../state/open';
import { inForce, problem, stored, working, type PairNodes } from '../../state/rematch';
import { showNote } from '../copy';
import { download } from '../download';
import { AlsoFor } from './also_for';
import { ExportedMapping } from './mapping_exported';
import { Left } from './mapping_left';
import { Proposals } from './mapping_proposals';
import { MESSAGES_IN_SIGHT, messagesApart, RuleMessage, Rules } from './mapping_rules';
import { jump, showLine, tab, TABS } from './mapping_tabs';
import { WhereKept, when } from './kept';
import { PairLine } from './node_link';

const MOST = 60;

function Templates() {
  const known = templates.value ?? [];
  if (known.length === 0) return null;
  const choose = (name: string): void => {
    const found = known.find((item) => item.name === name);
    if (found) edit(found.text, `${found.name}.yaml`);
  };
  return (
    <label class="action file">
      {t('mapping.template')}
      <select value="" aria-label={t('mapping.template')} onChange={(event) => choose((event.currentTarget as HTMLSelectElement).value)}>
        <option value="">{t('mapping.template')}</option>
        {known.map((item) => (
          <option key={item.name} value={item.name} title={local({ en: item.title, zh: item.title_zh })}>
            {item.name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Head({ open }: { readonly open: Graph }) {
  const file = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement;
    const chosen = input.files?.[0];
    if (chosen) void chosen.text().then((text) => edit(text.replace(/^\ufeff/, ''), chosen.name));
    input.value = '';
  };
  return (
    <section class="block mapping-head">
      <p>
        {nameInForce.value ? (
          <>
            {t('mapping.inForce')} <b>{nameInForce.value}</b>
          </>
        ) : (
          t('mapping.none')
        )}
        {marks.value.mapping ? <small class="dim"> · {when(marks.value.mapping)}</small> : null}
      </p>
      {marks.value.mapping ? <WhereKept open={open} /> : null}
      <div class="buttons">
        <label class="action file">
          {t('mapping.load')}
          <input type="file" accept=".yaml,.yml" onChange={file} />
        </label>
        <Templates />
        <button
          class="action"
          title={t('mapping.writeHint')}
          onClick={() =>
            void proposeRules('all').then(
              (text) => edit(text, 'mapping.yaml'),
              (failed: unknown) => showNote(local(problemText(failed))),
            )
          }
        >
          {t('mapping.write')}
        </button>
        <button class="action" disabled={draft.value.trim() === ''} onClick={() => download(fileName(draftName.value.replace(/\.ya?ml$/i, ''), '.yaml'), draft.value, 'application/yaml')}>
          {t('mapping.save')}
        </button>
      </div>
    </section>
  );
}

function Text() {
  const area = useRef<HTMLTextAreaElement>(null);
  const wrong = draftProblem.value ? placeIn(draftProblem.value.en) : null;
  useEffect(() => {
    const element = area.current;
    if (!element || jump.value === 0) return;
    const [from, to] = lineRange(draft.value, jump.value);
    element.focus();
    element.setSelectionRange(from, to);
    element.scrollTop = Math.max(0, (jump.value - 4) * 18);
    jump.value = 0;
  }, [jump.value]);
  const lines = draft.value.split('\n').length;
  return (
    <div class="text-editor">
      <pre class="line-numbers" aria-hidden="true">
        {Array.from({ length: lines }, (_, i) => (
          <span key={i} class={wrong?.line === i + 1 ? 'wrong' : ''}>{`${i + 1}\n`}</span>
        ))}
      </pre>
      <textarea
        ref={area}
        aria-label={t('mapping.text')}
        spellcheck={false}
        wrap="off"
        rows={Math.max(12, lines + 1)}
        value={draft.value}
        placeholder={'TopLayer:\n  decoder.layers: model.layers\nSelfAttention:\n  linear_qkv: [q_proj, k_proj, v_proj]'}
        onInput={(event) => edit((event.currentTarget as HTMLTextAreaElement).value)}
      />
    </div>
  );
}

function PairList({ open, title, pairs, total }: { readonly open: Graph; readonly title: string; readonly pairs: readonly PairNodes[]; readonly total: number }) {
  if (total === 0) return null;
  return (
    <details>
      <summary>{title}</summary>
      <ul class="changed">
        {pairs.slice(0, MOST).map(([target, golden], i) => (
          <li key={i}>
            <PairLine open={open} target={target} golden={golden} length={30} />
          </li>
        ))}
      </ul>
      {total > MOST ? <p class="dim">{t('matches.more', { count: total - MOST })}</p> : null}
    </details>
  );
}

function Effect({ open }: { readonly open: Graph }) {
  const effect = effectOfDraft.value;
  const wrong = draftProblem.value ?? problem.value;
  const messages = tab.value === 'rules' ? messagesApart.value : (effect?.messages ?? []);
  return (
    <section class="block effect" aria-live="polite">
      {wrong ? (
        <p class="problem" role="alert">
          {local(wrong)}{' '}
          {placeIn(wrong.en) && tab.value !== 'text' ? (
            <button class="link" onClick={() => showLine(placeIn(wrong.en)?.line ?? 1)}>
              {t('mapping.goToLine')}
            </button>
          ) : null}
        </p>
      ) : null}
      {previewing.value ? <p class="dim">{t('mapping.looking')}</p> : null}
      {effect ? (
        <div class={previewing.value ? 'stale' : ''}>
          <p>
            <b>{t('mapping.effect', { pairs: formatCount(effect.counts.pairs), before: formatCount(effect.counts.before) })}</b>{' '}
            <span class="dim">{t('mapping.effectChange', { added: formatCount(effect.counts.new), gone: formatCount(effect.counts.gone) })}</span>
          </p>
          {messages.length > 0 ? (
            <div class="effect-messages" tabIndex={0}>
              {messages.slice(0, MESSAGES_IN_SIGHT).map((item, i) => (
                <p key={i} class="problem">
                  <RuleMessage item={item} />
                </p>
              ))}
            </div>
          ) : null}
          <PairList open={open} title={t('mapping.new', { count: formatCount(effect.counts.new) })} pairs={effect.new} total={effect.counts.new} />
          <PairList open={open} title={t('mapping.gone', { count: formatCount(effect.counts.gone) })} pairs={effect.gone} total={effect.counts.gone} />
        </div>
      ) : null}
      <div class="buttons">
        <button class="action primary" disabled={!changedDraft.value || working.value || wrong !== null || previewing.value} onClick={() => void applyDraft()}>
          {working.value ? t('mapping.applying') : t('mapping.apply')}
        </button>
        <button class="action" disabled={!changedDraft.value} onClick={revertDraft}>
          {t('mapping.revert')}
        </button>
      </div>
      <AlsoFor />
    </section>
  );
}

function Policy() {
  if (!policies.value || policies.value.length === 0) return null;
  return (
    <label class="field">
      {t('mapping.policy')}
      <select value={inForce.value.policy} disabled={working.value} onChange={(event) => judgeBy((event.currentTarget as HTMLSelectElement).value)}>
        <option value="file">{t('mapping.policyFile', { name: stored.value?.summary.policy?.name ?? '' })}</option>
        {policies.value.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function MappingPanel() {
  const open = graph.value;
  useEffect(() => {
    void wantTemplates();
    if (stored.value?.golden && !effectOfDraft.value && !previewing.value) void look();
  }, [stored.value]);
  if (!open?.golden) return null;
  if (exported.value) return <ExportedMapping open={open} />;
  const now = tab.value;
  return (
    <div class={now === 'proposals' ? 'side-panel scrolls on-proposals' : 'side-panel scrolls'} tabIndex={0} role="region" aria-label={t('mapping.title')}>
      <h2>{t('mapping.title')}</h2>
      <Head open={open} />
      <div class="tabs" role="tablist" aria-label={t('mapping.title')}>
        {TABS.map((id) => (
          <button key={id} role="tab" id={`mapping-tab-${id}`} aria-selected={now === id} class={now === id ? 'tab on' : 'tab'} onClick={() => (tab.value = id)}>
            {t(`mapping.tab.${id}`)}
            {id === 'proposals' && open.summary.proposals.length > 0 ? <span class="count"> {open.summary.proposals.length}</span> : null}
          </button>
        ))}
      </div>
      <section class="block" role="tabpanel" aria-labelledby={`mapping-tab-${now}`}>
        {now === 'rules' ? <Rules /> : now === 'text' ? <Text /> : now === 'left' ? <Left open={open} /> : <Proposals open={open} />}
      </section>
      <Policy />
      {/* A draft that nobody has changed has no effect to be weighed while proposals are answered. */}
      {now === 'proposals' && !changedDraft.value && !problem.value ? <AlsoFor /> : <Effect open={open} />}
    </div>
  );
}
