/** The layer mapping: rules with what each of them hits, the text, what stays unmatched, and proposals; edited with its effect shown before it is applied. */
import { computed, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ruleOfPair } from '../../core/rule_of_pair';
import { addRule, changeRule, isPlainRule, lineRange, placeIn, removeRule } from '../../core/mapping_text';
import { formatCount } from '../../core/format';
import type { Graph } from '../../core/types';
import { local, say, t } from '../../i18n';
import { exported, graph, names, selection } from '../../state/app';
import { applyDraft, changedDraft, draft, draftName, draftProblem, edit, effectOfDraft, judgeBy, look, nameInForce, policies, previewing, proposeRules, revertDraft, rules, templates, wantTemplates } from '../../state/mapping';
import { marks } from '../../state/marks';
import { problemText } from '../../state/open';
import { inForce, problem, stored, working, type PairNodes, type RuleHits } from '../../state/rematch';
import { showNote } from '../copy';
import { download, fileName } from '../download';
import { AlsoFor } from './also_for';
import { ExportedMapping } from './mapping_exported';
import { Left } from './mapping_left';
import { Proposals } from './mapping_proposals';
import { WhereKept, when } from './kept';
import { PairLine } from './node_link';

type Tab = 'rules' | 'text' | 'left' | 'proposals';
const TABS: readonly Tab[] = ['rules', 'text', 'left', 'proposals'];
const tab = signal<Tab>('rules');
const editing = signal<RuleHits | null>(null);
const form = signal({ scope: '', source: '', target: '' });
const jump = signal(0); // line of the text to show, 0 = none

const MOST = 60;

function showLine(line: number): void {
  tab.value = 'text';
  jump.value = line;
}

function Head({ open }: { readonly open: Graph }) {
  const file = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement;
    const chosen = input.files?.[0];
    if (chosen) void chosen.text().then((text) => edit(text.replace(/^\ufeff/, ''), chosen.name));
    input.value = '';
  };
  const known = templates.value ?? [];
  return (
    <section class="block">
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
        {known.length > 0 ? (
          <label class="action file">
            {t('mapping.template')}
            <select
              value=""
              aria-label={t('mapping.template')}
              onChange={(event) => {
                const found = known.find((item) => item.name === (event.currentTarget as HTMLSelectElement).value);
                if (found) edit(found.text, `${found.name}.yaml`);
              }}
            >
              <option value="">{t('mapping.template')}</option>
              {known.map((item) => (
                <option key={item.name} value={item.name} title={local({ en: item.title, zh: item.title_zh })}>
                  {item.name}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        <button
          class="action"
          title={t('mapping.writeHint')}
          onClick={() =>
            void proposeRules('all').then(
              (text) => edit(text, 'proposal.yaml'),
              (failed: unknown) => showNote(local(problemText(failed))),
            )
          }
        >
          {t('mapping.write')}
        </button>
        <button class="action" disabled={draft.value.trim() === ''} onClick={() => download(fileName(draftName.value), draft.value, 'application/yaml')}>
          {t('mapping.save')}
        </button>
      </div>
    </section>
  );
}

/** Class names of the target side, for the form; looked up once a graph. */
const targetClasses = computed<readonly string[]>(() => {
  const open = stored.value;
  const found = new Set<string>();
  if (!open || !names.value) return [];
  const seen = new Uint8Array(open.strings.count);
  const { head, count } = open.target;
  for (let node = 1; node < count && found.size < 500; node++) {
    if (seen[head[node]]) continue;
    seen[head[node]] = 1;
    const { type } = names.value.of(open.target, node);
    if (type) found.add(type);
  }
  return [...found].sort();
});

function RuleForm() {
  const own = form.value;
  const set = (key: 'scope' | 'source' | 'target') => (event: Event) => (form.value = { ...form.value, [key]: (event.currentTarget as HTMLInputElement).value });
  const changing = editing.value;
  const ref = selection.value;
  const selected = graph.value && names.value && ref ? ruleOfPair(graph.value, names.value, ref) : null;
  const done = (event: Event): void => {
    event.preventDefault();
    if (!own.source.trim() || (!changing && !own.scope.trim())) return;
    edit(changing ? changeRule(draft.value, changing.line, own) : addRule(draft.value, { ...own, scope: own.scope.trim() }));
    editing.value = null;
    form.value = { scope: own.scope, source: '', target: '' };
  };
  return (
    <form class="rule-form" onSubmit={done}>
      <label class="field">
        {t('mapping.scope')}
        <input type="text" list="mapping-classes" value={changing ? changing.scope : own.scope} disabled={changing !== null} onInput={set('scope')} placeholder="SelfAttention" />
      </label>
      <datalist id="mapping-classes">
        <option value="TopLayer" />
        {targetClasses.value.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <label class="field">
        {t('mapping.source')}
        <input type="text" value={own.source} onInput={set('source')} placeholder="linear_qkv" />
      </label>
      <label class="field">
        {t('mapping.target')}
        <input type="text" value={own.target} onInput={set('target')} placeholder="q_proj, k_proj, v_proj" title={t('mapping.targetHint')} />
      </label>
      <div class="buttons">
        <button class="action" type="submit" disabled={!own.source.trim()}>
          {changing ? t('mapping.change') : t('mapping.add')}
        </button>
        {changing === null && selected ? (
          <button class="action" type="button" title={t('mapping.fillHint')} onClick={() => (form.value = selected)}>
            {t('mapping.fill')}
          </button>
        ) : null}
        {changing ? (
          <button class="action" type="button" onClick={() => ((editing.value = null), (form.value = { scope: '', source: '', target: '' }))}>
            {t('mapping.cancel')}
          </button>
        ) : null}
      </div>
    </form>
  );
}

function RuleRow({ rule }: { readonly rule: RuleHits }) {
  const plain = isPlainRule(draft.value, rule.line);
  const startChange = (): void => {
    if (!plain) {
      showLine(rule.line);
      return;
    }
    editing.value = rule;
    form.value = { scope: rule.scope, source: rule.source, target: rule.target };
  };
  return (
    <li class={rule.hits === 0 ? 'rule unused' : 'rule'}>
      <button class="link rule-words" title={t('mapping.edit')} onClick={startChange}>
        <code>{rule.source}</code> <span class="dim">→</span> <code>{rule.target}</code>
      </button>
      <span class="number" title={t('mapping.hits', { count: rule.hits })}>
        {rule.hits === 0 ? t('mapping.unused') : formatCount(rule.hits)}
      </span>
      <button class="tool small" aria-label={t('mapping.showLine', { line: rule.line })} title={t('mapping.showLine', { line: rule.line })} onClick={() => showLine(rule.line)}>
        ¶
      </button>
      <button class="tool small" disabled={!plain} aria-label={t('mapping.delete')} title={plain ? t('mapping.delete') : t('mapping.deleteInText')} onClick={() => edit(removeRule(draft.value, rule.line))}>
        ×
      </button>
    </li>
  );
}

function Rules() {
  const all = rules.value;
  const scopes = [...new Set(all.map((rule) => rule.scope))];
  const unused = all.filter((rule) => rule.hits === 0).length;
  const messages = effectOfDraft.value?.messages ?? [];
  return (
    <>
      {all.length > 0 ? <p class="dim">{t('mapping.ruleCount', { count: all.length, unused })}</p> : <p class="dim">{draft.value.trim() === '' ? t('mapping.noRules') : previewing.value ? t('mapping.looking') : ''}</p>}
      {scopes.map((scope) => (
        <section key={scope}>
          <h3>
            <code>{scope}</code>
          </h3>
          <ul class="rules">
            {all
              .filter((rule) => rule.scope === scope)
              .map((rule) => (
                <RuleRow key={`${rule.line}|${rule.source}`} rule={rule} />
              ))}
          </ul>
        </section>
      ))}
      {messages.length > 0 ? (
        <details>
          <summary>{t('mapping.messages', { count: messages.length })}</summary>
          <ul class="messages">
            {messages.map((item, i) => {
              const line = item.line || placeIn(item.text)?.line || 0;
              return (
                <li key={i}>
                  {line > 0 ? (
                    <button class="link" onClick={() => showLine(line)}>
                      {say(item.said)}
                    </button>
                  ) : (
                    say(item.said)
                  )}
                </li>
              );
            })}
          </ul>
        </details>
      ) : null}
      <RuleForm />
    </>
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
    <div class="side-panel scrolls" tabIndex={0} role="region" aria-label={t('mapping.title')}>
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
      <Effect open={open} />
    </div>
  );
}
