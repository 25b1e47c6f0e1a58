/** The details of the selection: how the pair was made, a table of its tensors, stacks, copying. */
import { signal } from '@preact/signals';
import { createRef } from 'preact';
import { toMarkdown, toText, toTsv } from '../core/table_text';
import type { TriageEntry } from '../core/marks';
import { shortenMiddle } from '../core/names';
import { HOW_WORDS, pairNodes, Relation, RELATION_WORDS, type Graph } from '../core/types';
import { local, say, t } from '../i18n';
import { detailsHeight, detailsOpen, graph, names, panel, selection } from '../state/app';
import { details, detailsFailure, detailsPending, type Details as DetailsData } from '../state/details';
import { marks, nodesOfMark } from '../state/marks';
import { producers } from '../state/view';
import { select } from '../state/actions';
import { copyText } from './copy';
import { DetailTable } from './detail_table';
import { detailTable, fullNames, pairTitle } from './detail_words';
import { detailActions } from './detail_actions';
import { HeatmapPanel } from './heatmap';
import { Splitter } from './splitter';

const stackOpen = signal(false);
const stacksPlace = createRef<HTMLDivElement>();
const copyOpen = signal(false);

/** What a person noted about the nodes of a pair. */
function marksOn(open: Graph, pair: number): readonly TriageEntry[] {
  return marks.value.triage.filter((entry) => {
    const marked = nodesOfMark(open, entry.side, entry);
    return pairNodes(open.pairs, pair, entry.side).some((node) => marked.includes(node));
  });
}

function Tags({ open, pair }: { readonly open: Graph; readonly pair: number }) {
  if (!open.golden) return null;
  if (pair < 0) return <span class="tag">{t('details.unmatched')}</span>;
  const { pairs } = open;
  const how = HOW_WORDS[pairs.how[pair]] ?? 'exact';
  const confidence = pairs.confidence[pair] / 255;
  const evidence = say(pairs.evidenceTexts[pairs.evidence[pair]]);
  return (
    <>
      {pairs.relation[pair] !== Relation.same ? <span class="tag">{t(`relation.${RELATION_WORDS[pairs.relation[pair]] ?? 'same'}`)}</span> : null}
      <span class="tag" title={t(`meaning.how.${how}`)}>{t('details.how', { how: t(`how.${how}`), confidence: confidence < 0.995 ? confidence.toFixed(2) : '' }).trim()}</span>
      {marksOn(open, pair).map((entry) => (
        <button key={`${entry.side}|${entry.nodes}`} class="tag" title={[t(`triage.verdict.${entry.verdict}`), entry.note].filter(Boolean).join(': ')} onClick={() => (panel.value = 'triage')}>
          ✓ {shortenMiddle(entry.note || t(`triage.verdict.${entry.verdict}`), 24)}
        </button>
      ))}
      <span class="dim evidence" title={evidence}>
        {evidence}
      </span>
    </>
  );
}

function CopyMenu({ open, shown }: { readonly open: Graph; readonly shown: DetailsData }) {
  const table = () => detailTable(open, shown.pair, fullNames(open, shown.nodes).join(' ~ '), shown.rows);
  const copy = (text: string): void => {
    copyOpen.value = false;
    void copyText(text, t('details.copied'));
  };
  return (
    <span class="menu-host">
      <button class="tag" aria-expanded={copyOpen.value} onClick={() => (copyOpen.value = !copyOpen.value)}>
        {t('details.copy')} ▾
      </button>
      {copyOpen.value ? (
        <span class="menu" role="group" aria-label={t('details.copy')} onKeyDown={(event) => event.key === 'Escape' && (copyOpen.value = false)}>
          <button onClick={() => copy(toText(table()))}>{t('details.copyText')}</button>
          <button onClick={() => copy(toTsv(table()))}>{t('details.copyTsv')}</button>
          <button onClick={() => copy(toMarkdown(table()))}>{t('details.copyMarkdown')}</button>
          <button onClick={() => copy(fullNames(open, shown.nodes).join('\n'))}>{t('details.copyName')}</button>
        </span>
      ) : null}
    </span>
  );
}

/** The stacks lie below the table, which usually fills the room: they are scrolled to. */
function toggleStacks(): void {
  stackOpen.value = !stackOpen.value;
  if (stackOpen.value) requestAnimationFrame(() => stacksPlace.current?.scrollIntoView({ block: 'nearest' }));
}

function Stacks({ open, shown }: { readonly open: Graph; readonly shown: DetailsData }) {
  if (shown.stacks.length === 0) return <p class="dim hint">{t('details.noStack')}</p>;
  const known = names.value;
  return (
    <div class="stacks" ref={stacksPlace}>
      {shown.stacks.map((stack) => (
        <section key={`${stack.node.side}${stack.node.node}`}>
          <h3>
            {open.golden ? `${t(`side.${stack.node.side}`)} · ` : ''}
            {known ? known.full(stack.node.side === 'target' || !open.golden ? open.target : open.golden, stack.node.node) : ''}
          </h3>
          <ol>
            {stack.lines.map((line, i) => (
              <li key={i}>
                <code>{line}</code>
              </li>
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}

/** Where the inputs come from, as far as equal numbers tell. */
function Producers({ open }: { readonly open: Graph }) {
  const known = names.value;
  if (producers.value.length === 0 || !known) return null;
  return (
    <span class="producers dim">
      {t('details.producer')}{' '}
      {producers.value.map((ref, i) => {
        const side = ref.side === 'target' ? open.target : open.golden;
        if (!side) return null;
        const trail = known.trail(side, ref.node);
        return (
          <span key={ref.node}>
            {i > 0 ? t('list.comma') : ''}
            <button class="link" title={known.full(side, ref.node)} onClick={() => select(ref, { reveal: true, centre: true })}>
              {trail.slice(-2).join(' · ')}
            </button>
          </span>
        );
      })}
    </span>
  );
}

function Heading({ open, shown }: { readonly open: Graph; readonly shown: DetailsData | null }) {
  const ref = selection.value;
  const node = shown && ref ? { pair: shown.pair, title: pairTitle(open, shown.pair, shown.ref) } : null;
  return (
    <header class="details-head">
      {node && shown ? (
        <>
          <b class="title" title={fullNames(open, shown.nodes).join('\n')}>
            {node.title}
          </b>
          <Tags open={open} pair={node.pair} />
          <Producers open={open} />
        </>
      ) : (
        <span class="dim">{detailsPending.value ? t('details.loading') : t('details.nothing')}</span>
      )}
      <span class="grow" />
      {shown ? (
        <>
          {detailActions.map((Action, i) => (
            <Action key={i} />
          ))}
          <button class={stackOpen.value ? 'tag on' : 'tag'} aria-pressed={stackOpen.value} onClick={toggleStacks}>
            {t('details.stack')}
          </button>
          <CopyMenu open={open} shown={shown} />
        </>
      ) : null}
      <button class="tag" aria-expanded={detailsOpen.value} aria-label={detailsOpen.value ? t('details.close') : t('details.open')} title={detailsOpen.value ? t('details.close') : t('details.open')} onClick={() => (detailsOpen.value = !detailsOpen.value)}>
        {detailsOpen.value ? '▾' : '▴'}
      </button>
    </header>
  );
}

export function Details() {
  const open = graph.value;
  if (!open) return null;
  const shown = details.value;
  // Nothing selected: only the line that says so, the graphs get the room.
  const tall = detailsOpen.value && selection.value !== null;
  return (
    <section class="details" aria-label={t('details.label')} style={tall ? { height: `${detailsHeight.value}px` } : {}}>
      {tall ? <Splitter direction="horizontal" label={t('details.resize')} size={detailsHeight} smallest={90} largest={Math.max(200, window.innerHeight - 260)} grows={-1} /> : null}
      <Heading open={open} shown={shown} />
      {tall ? (
        <div class="details-row">
          <div class="details-body scrolls" tabIndex={0} role="region" aria-label={t('details.table')}>
            {detailsFailure.value ? <p class="hint" role="alert">{local(detailsFailure.value)}</p> : null}
            {shown && shown.rows.length === 0 ? <p class="dim hint">{t('details.noRows')}</p> : null}
            {shown && shown.rows.length > 0 ? <DetailTable open={open} shown={shown} /> : null}
            {shown && stackOpen.value ? <Stacks open={open} shown={shown} /> : null}
          </div>
          <HeatmapPanel />
        </div>
      ) : null}
    </section>
  );
}
