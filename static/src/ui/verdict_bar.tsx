/** The answer first: where forward, backward and parameters first stop agreeing, one sentence each, and how many nodes are what. */
import { computed } from '@preact/signals';
import { CauseClass, isMeasured } from '../core/colouring';
import { FINDING_GROUPS, worstError, type FindingGroup } from '../core/findings';
import { formatCount, formatError } from '../core/format';
import { shortName } from '../core/names';
import { Cause, Direction, sideOf, Status, type Graph, type NodeRef } from '../core/types';
import { local, t, type TextKey } from '../i18n';
import { classMeaning, className } from '../i18n/class_names';
import { select } from '../state/actions';
import { expectedTarget, findingFilter, graph, names, panel } from '../state/app';
import { comingIntoForce } from '../state/marks';
import { findingList } from '../state/findings';
import { originElsewhere } from '../state/overview';
import { SIGN_OF_KIND } from '../state/kinds';
import { reasonSummary } from '../state/reasons';
import { firstShown, hiddenPairs } from '../state/triage';
import { divergenceRef, openGraph } from '../state/open';
import { causes } from '../state/view';
import type { FirstDivergence } from '../wire/graph_pb.js';
import { Sign } from './sign';
import { Unbroken } from './unbroken';
import { warningsOpen, Warnings } from './warnings';

const TRAIL_JOINT = ' · ';

interface CardText {
  readonly big: string;
  readonly why: string;
  readonly ref: NodeRef | null;
  readonly cls: number; // class of the sign, -1 = none
  readonly marked?: number; // marked ones that come before it
  readonly go?: () => void; // where there is no node to go to
}

function trailOf(open: Graph, ref: NodeRef | null, otherwise: string): string {
  const side = ref && sideOf(open, ref.side);
  if (!ref || !side || !names.value) return otherwise;
  const trail = names.value.trail(side, ref.node);
  return (trail.length > 3 ? trail.slice(-3) : trail).join(TRAIL_JOINT);
}

function divergence(open: Graph, found: FirstDivergence): CardText {
  const ref = divergenceRef(found.target_node, found.golden_node);
  const name = trailOf(open, ref, found.target || found.golden[0] || '');
  const kind = t(`kind.${found.kind}` as TextKey) || found.kind;
  const agreed = found.after && t('verdict.lastAgreement', { name: shortName(found.after) });
  // The sign of the box itself where it has one, so that bar and graph say the same.
  const column = ref && (ref.side === 'target' ? causes.value?.target : causes.value?.golden);
  const own = ref && column ? column.classes[ref.node] : 0;
  const cls = causes.value?.classes[own]?.strong ? own : (SIGN_OF_KIND[found.kind] ?? CauseClass.error);
  return { big: name || t('verdict.gap'), why: [local(found.reason) || kind, agreed].filter(Boolean).join(t('list.semicolon')), ref, cls };
}

/** The next one, where the first is marked: its sentence is in the details, here is what the columns know. */
function nextDivergence(open: Graph, pair: number, node: number, marked: number): CardText {
  const ref: NodeRef = { side: 'target', node };
  const cls = causes.value?.target.classes[node] ?? CauseClass.introduced;
  const error = formatError(worstError(open, pair));
  const why = [className(causes.value?.classes[cls], 'cause'), reasonSummary(open, pair), error ? t('verdict.error', { error }) : ''].filter(Boolean);
  return { big: trailOf(open, ref, ''), why: why.join(t('list.comma')), ref, cls, marked };
}

/** Target nodes of each direction. */
const calls = computed<Uint32Array>(() => {
  const counts = new Uint32Array(3);
  const direction = graph.value?.target.direction;
  if (direction) for (let node = 1; node < direction.length; node++) counts[direction[node]]++;
  return counts;
});

/** Whether every value that was followed agrees: then nothing but a policy with rules of its own (msprobe) objects to any. */
const byRulesOnly = computed<boolean>(() => {
  const cause = graph.value?.verdicts.cause;
  return cause !== undefined && cause.includes(Cause.clean) && cause.every((each) => each === Cause.none || each === Cause.clean);
});

/** Pairs that differ, by the direction of their first target node. */
const differing = computed<Uint32Array>(() => {
  const counts = new Uint32Array(3);
  const open = graph.value;
  if (!open) return counts;
  const { status } = open.verdicts;
  const { targetEnd, targetNodes } = open.pairs;
  for (let pair = 0, start = 0; pair < status.length; start = targetEnd[pair++]) {
    if (status[pair] !== Status.error && status[pair] !== Status.warning) continue;
    if (start < targetEnd[pair]) counts[open.target.direction[targetNodes[start]]]++;
  }
  return counts;
});

function measured(open: Graph): boolean {
  return isMeasured(open.verdicts.status);
}

/** Whether marks are hidden and explain all that began something in forward. */
function forwardIsMarked(open: Graph): boolean {
  const { next } = firstShown(open, 'forward');
  return next !== null && next.pair < 0;
}

function directionCard(open: Graph, which: 'forward' | 'backward'): CardText {
  const { found, next, before } = firstShown(open, which);
  if (found) return { ...divergence(open, found), marked: before };
  const plain = { ref: null, cls: -1 };
  if (next) return next.pair >= 0 ? nextDivergence(open, next.pair, next.node, before) : { ...plain, big: t('verdict.nothingElse'), why: t('verdict.nothingElseWhy'), marked: before };
  if (!measured(open)) return { ...plain, big: t('verdict.notMeasured'), why: t('verdict.structureOnly') };
  const direction = which === 'forward' ? Direction.forward : Direction.backward;
  const count = calls.value[direction];
  if (count === 0) return { ...plain, big: t('verdict.noCalls'), why: t(which === 'forward' ? 'verdict.noCallsForward' : 'verdict.noCallsBackward') };
  if (which === 'backward' && forwardIsMarked(open)) return { ...plain, big: t('verdict.followsMarked'), why: t('verdict.followsMarkedWhy', { count: formatCount(count) }) };
  const differ = differing.value[direction];
  if (differ > 0 && byRulesOnly.value) return { ...plain, big: t('verdict.byRules'), why: t('verdict.byRulesWhy', { count: formatCount(differ) }) };
  // Gradients of another forward pass differ everywhere: where it differs there is nothing more to say.
  if (which === 'backward' && (open.summary.forward || differing.value[Direction.forward] > 0)) return { ...plain, big: t('verdict.follows'), why: t('verdict.followsWhy', { count: formatCount(count) }) };
  if (differ > 0) {
    const origin = originElsewhere.value;
    const why = origin ? t('verdict.beganAt', { rank: origin.rank, what: local(origin.text) }) : t('verdict.cameInWhy', { count: formatCount(differ) });
    return { ...plain, big: t('verdict.cameIn'), why, cls: CauseClass.inherited, go: origin ? () => void openGraph(origin.key) : undefined };
  }
  return { ...plain, big: t('verdict.none'), why: t('verdict.noneWhy', { count: formatCount(count) }) };
}

/** "linear_qkv.bias". A gradient belongs to a node "parameters_grad" below its module, which is what a person knows it by. */
function parameterName(open: Graph, ref: NodeRef | null, target: string, gradient: boolean): string {
  const trail = trailOf(open, ref, '').split(TRAIL_JOINT);
  return `${trail.at(gradient ? -2 : -1) ?? ''}.${target.split('.').pop() ?? ''}`;
}

function parameterCard(open: Graph): CardText {
  const all = open.summary.parameters;
  const parameters = hiddenPairs.value ? all.filter((item) => !expectedTarget.value.has(item.target_node) && !(item.pair >= 0 && hiddenPairs.value?.[item.pair])) : all;
  const marked = all.length - parameters.length;
  if (!measured(open)) return { big: t('verdict.notMeasured'), why: t('verdict.structureOnly'), ref: null, cls: -1 };
  if (parameters.length === 0 && marked > 0) return { big: t('verdict.nothingElse'), why: t('verdict.nothingElseWhy'), ref: null, cls: -1, marked };
  const uncompared = open.summary.uncompared_parameters;
  if (parameters.length === 0 && uncompared) {
    const ref = divergenceRef(uncompared.target_node, -1);
    const why = t('verdict.uncomparedWhy', { name: parameterName(open, ref, uncompared.target, false), why: local(uncompared.reason) });
    return { big: t('verdict.uncompared', { count: formatCount(uncompared.count) }), why, ref, cls: CauseClass.incomparable };
  }
  if (parameters.length === 0) return { big: t('verdict.parametersSame'), why: t('verdict.parametersSameWhy'), ref: null, cls: -1 };
  const own = parameters.filter((item) => !item.gradient);
  const shown = own.length > 0 ? own : parameters;
  const first = shown[0];
  const ref = divergenceRef(first.target_node, -1);
  const name = parameterName(open, ref, first.target, first.gradient);
  // The chip counts calls: one parameter that several calls use (micro steps, say) is one here and several there.
  const used = own.length > 0 ? shownCauses(open).parameter : 0;
  const more = used > 0 && used !== own.length ? [t('verdict.inCalls', { count: formatCount(used) })] : [];
  if (uncompared) more.push(t('verdict.uncompared', { count: formatCount(uncompared.count) }));
  const big = t(own.length > 0 ? 'verdict.parametersDiffer' : 'verdict.gradients', { count: formatCount(shown.length) });
  return { big, why: [[name, formatError(first.error)].filter(Boolean).join('  '), ...more].join(t('list.semicolon')), ref, cls: own.length > 0 ? CauseClass.parameter : CauseClass.introduced, marked };
}

/** Where room is short the modules around are cut, not the name of the one that is meant. */
function Trail({ text }: { readonly text: string }) {
  const cut = text.lastIndexOf(TRAIL_JOINT);
  if (cut < 0) return <span class="around">{text}</span>;
  return (
    <>
      <span class="around">{text.slice(0, cut)}</span>
      <span class="own">{text.slice(cut)}</span>
    </>
  );
}

function Card({ title, card }: { readonly title: string; readonly card: CardText }) {
  const item = card.cls >= 0 ? causes.value?.classes[card.cls] : undefined;
  const marked = card.marked ?? 0;
  const button = (
    <button class="card" disabled={card.ref === null && !card.go} onClick={() => (card.ref ? select(card.ref, { reveal: true, centre: true }) : card.go?.())}>
      <span class="heading">{title}</span>
      <span class="big" title={card.big}>
        {item ? <Sign item={item} /> : null}
        <Trail text={card.big} />
      </span>
      <span class="why" title={card.why}>
        <Unbroken text={card.why} />
      </span>
    </button>
  );
  if (marked === 0) return button;
  return (
    <div class="card-with-marked">
      {button}
      <button class="link marked-before" onClick={() => (panel.value = 'triage')}>
        {t(card.ref === null ? 'verdict.marked' : 'verdict.markedBefore', { count: formatCount(marked) })}
      </button>
    </div>
  );
}

const CLASS_OF_GROUP: Partial<Record<FindingGroup, number>> = {
  cause: CauseClass.introduced,
  amplified: CauseClass.amplified,
  inherited: CauseClass.inherited,
  recovered: CauseClass.recovered,
  error: CauseClass.error,
  warning: CauseClass.warning,
  incomparable: CauseClass.incomparable,
  unmatched: CauseClass.unmatched,
  unmatchedCalls: CauseClass.unmatched,
  clean: CauseClass.clean,
};

/** Causes without those that marks explain, while marks are hidden. */
function shownCauses(open: Graph): { readonly parameter: number; readonly introduced: number } {
  const counts = { parameter: open.summary.causes?.parameter ?? 0, introduced: open.summary.causes?.introduced ?? 0 };
  hiddenPairs.value?.forEach((hidden, pair) => {
    if (hidden === 0) return;
    if (open.verdicts.cause[pair] === Cause.parameter) counts.parameter--;
    else if (open.verdicts.cause[pair] === Cause.introduced) counts.introduced--;
  });
  return counts;
}

/** Parameter and introduced are counted apart here although the list filters them together. */
function Counts({ open }: { readonly open: Graph }) {
  const list = findingList.value;
  const colouring = causes.value;
  if (!list || !colouring) return null;
  const show = (groups: readonly FindingGroup[]): void => {
    findingFilter.value = new Set(groups);
    panel.value = 'findings';
  };
  const chip = (key: string, count: number, cls: number, text: string, groups: readonly FindingGroup[], counted = text) => (
    <button key={key} class={count === 0 ? 'chip zero' : 'chip'} title={[`${formatCount(count)} ${counted}`, classMeaning(colouring.classes[cls])].filter(Boolean).join(': ')} onClick={() => show(groups)}>
      {cls > CauseClass.none ? <Sign item={colouring.classes[cls]} /> : null}
      <b>{formatCount(count)}</b> <span class="word">{text}</span>
    </button>
  );
  const causeCounts = shownCauses(open);
  const rest = FINDING_GROUPS.filter((group) => group !== 'cause' && group !== 'clean' && list.counts[group] > 0);
  return (
    <div class="chips">
      {measured(open) ? chip('clean', list.counts.clean, CauseClass.clean, t('class.clean'), ['clean']) : null}
      {measured(open) ? chip('parameter', causeCounts.parameter, CauseClass.parameter, t('class.parameter'), ['cause'], t('verdict.parameterChip', { count: causeCounts.parameter })) : null}
      {measured(open) ? chip('introduced', causeCounts.introduced, CauseClass.introduced, t('class.introduced'), ['cause']) : null}
      {rest.map((group) => chip(group, list.counts[group], CLASS_OF_GROUP[group] ?? 0, t(`findings.${group}` as TextKey), [group]))}
      {open.summary.warnings.length > 0 ? (
        <button class="chip" aria-expanded={warningsOpen.value} onClick={() => (warningsOpen.value = !warningsOpen.value)}>
          {t('verdict.warnings', { count: open.summary.warnings.length })}
        </button>
      ) : null}
    </div>
  );
}

export function VerdictBar() {
  const open = graph.value;
  if (!open) return null;
  if (!open.golden) return <Warnings />;
  return (
    <>
      <section class={comingIntoForce.value ? 'row verdict former' : 'row verdict'} aria-label={t('verdict.label')} aria-busy={comingIntoForce.value !== null}>
        <Card title={t('verdict.forward')} card={directionCard(open, 'forward')} />
        <Card title={t('verdict.backward')} card={directionCard(open, 'backward')} />
        <Card title={t('verdict.parameters')} card={parameterCard(open)} />
        <Counts open={open} />
        {comingIntoForce.value ? (
          <p class="coming" role="status">
            {t(`matches.comingIntoForce.${comingIntoForce.value}`)}
          </p>
        ) : null}
      </section>
      <Warnings />
    </>
  );
}
