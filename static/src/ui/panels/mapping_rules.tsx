/** The rules of the mapping that is being edited, by class, with what each of them hits; and a form to add or change one. */
import { computed, signal } from '@preact/signals';
import { formatCount } from '../../core/format';
import { addRule, changeRule, isPlainRule, placeIn, removeRule } from '../../core/mapping_text';
import { messagesByPlace } from '../../core/rule_messages';
import { ruleOfPair } from '../../core/rule_of_pair';
import { say, t } from '../../i18n';
import { graph, names, selection } from '../../state/app';
import { draft, edit, previewing, shownRules } from '../../state/mapping';
import { stored, type Rematched, type RuleHits } from '../../state/rematch';
import { showLine } from './mapping_tabs';

const MOST_BESIDE = 2; // a rule of every layer is told once a layer; the notes below have the others

/** Of the messages that stand beside no rule, so many are in sight below all of them, with the effect. */
export const MESSAGES_IN_SIGHT = 1;

const placed = computed(() => {
  const { text, rules, effect } = shownRules.value;
  return messagesByPlace(text, rules, effect?.messages ?? []);
});

/** Every message is said once: these stand beside no rule and no class. */
export const messagesApart = computed<readonly Message[]>(() => {
  const beside = new Set([...placed.value.ofRule.values(), ...placed.value.ofScope.values()].flatMap((list) => list.slice(0, MOST_BESIDE)));
  return (shownRules.value.effect?.messages ?? []).filter((item) => !beside.has(item));
});

const editing = signal<RuleHits | null>(null);
const form = signal({ scope: '', source: '', target: '' });

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

/** What the matching said of a rule; a click shows its line. */
export function RuleMessage({ item }: { readonly item: Rematched['messages'][number] }) {
  const line = item.line || placeIn(item.text)?.line || 0;
  if (line === 0) return <>{say(item.said)}</>;
  return (
    <button class="link" onClick={() => showLine(line)}>
      {say(item.said)}
    </button>
  );
}

type Message = Rematched['messages'][number];

/** What the matching said of one rule or class, right below it. */
function Said({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <>
      {messages.slice(0, MOST_BESIDE).map((item, i) => (
        <p key={i} class="problem rule-problem">
          <RuleMessage item={item} />
        </p>
      ))}
      {messages.length > MOST_BESIDE ? <small class="dim">{t('matches.more', { count: messages.length - MOST_BESIDE })}</small> : null}
    </>
  );
}

function Hits({ rule }: { readonly rule: RuleHits }) {
  return (
    <span class="number" title={t('mapping.hits', { count: rule.hits })}>
      {rule.hits === 0 ? t('mapping.unused') : formatCount(rule.hits)}
    </span>
  );
}

/** A rule of another text than the draft: its line means nothing there, so that it cannot be changed. */
function FixedRule({ rule }: { readonly rule: RuleHits }) {
  return (
    <li class={rule.hits === 0 ? 'rule unused' : 'rule'}>
      <span class="rule-words">
        <code>{rule.source}</code> <span class="dim">→</span> <code>{rule.target}</code>
      </span>
      <Hits rule={rule} />
    </li>
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
      <Hits rule={rule} />
      <button class="tool small" aria-label={t('mapping.showLine', { line: rule.line })} title={t('mapping.showLine', { line: rule.line })} onClick={() => showLine(rule.line)}>
        ¶
      </button>
      <button class="tool small" disabled={!plain} aria-label={t('mapping.delete')} title={plain ? t('mapping.delete') : t('mapping.deleteInText')} onClick={() => edit(removeRule(draft.value, rule.line))}>
        ×
      </button>
    </li>
  );
}

/** Says whose rules are shown while the draft is refused. */
export function ShownInstead() {
  const { of } = shownRules.value;
  if (of === 'draft') return null;
  return (
    <p class="dim" role="status">
      {t(of === 'inForce' ? 'mapping.shownInForce' : 'mapping.shownLastTried')}
    </p>
  );
}

export function Rules() {
  const { of, text, rules: all } = shownRules.value;
  const scopes = [...new Set(all.map((rule) => rule.scope))];
  const unused = all.filter((rule) => rule.hits === 0).length;
  const { ofRule, ofScope } = placed.value;
  const others = messagesApart.value.slice(MESSAGES_IN_SIGHT);
  const fixed = text !== draft.value;
  return (
    <>
      <ShownInstead />
      {all.length > 0 ? (
        <p class="dim">{t('mapping.ruleCount', { count: all.length, unused })}</p>
      ) : (
        <p class="dim">{of !== 'draft' || draft.value.trim() === '' ? t('mapping.noRules') : previewing.value ? t('mapping.looking') : ''}</p>
      )}
      {scopes.map((scope) => (
        <section key={scope}>
          <h3>
            <code>{scope}</code>
          </h3>
          <Said messages={ofScope.get(scope) ?? []} />
          <ul class="rules">
            {all
              .filter((rule) => rule.scope === scope)
              .flatMap((rule) => [
                fixed ? <FixedRule key={`${rule.line}|${rule.source}`} rule={rule} /> : <RuleRow key={`${rule.line}|${rule.source}`} rule={rule} />,
                ofRule.has(rule.line) ? (
                  <li key={`said|${rule.line}|${rule.source}`}>
                    <Said messages={ofRule.get(rule.line) ?? []} />
                  </li>
                ) : null,
              ])}
          </ul>
        </section>
      ))}
      {others.length > 0 ? (
        <details>
          <summary>{t('mapping.messages', { count: others.length })}</summary>
          <ul class="messages">
            {others.map((item, i) => (
              <li key={i}>
                <RuleMessage item={item} />
              </li>
            ))}
          </ul>
        </details>
      ) : null}
      <RuleForm />
    </>
  );
}
