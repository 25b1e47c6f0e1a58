/** The table itself: both sides' statistics above each other, the error with a bar, the verdict in words. */
import { computed } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { LEAF, STATISTICS, type DetailRow, type LeafView } from '../core/details';
import { formatError } from '../core/format';
import { Status, type Graph } from '../core/types';
import { t } from '../i18n';
import type { Details } from '../state/details';
import { heatmap } from '../state/heatmap';
import { canvasSize, causes } from '../state/view';
import { dtypeShape, metricText, originWords, rowClass, rowName, verdictWords } from './detail_words';
import { MapButton } from './heatmap';
import { Sign } from './sign';
import { Unbroken } from './unbroken';

const SHORTEST_BAR = 0.04;

/** Share of the bar: four decades below 1. */
function barShare(error: number): number {
  if (!(error > 0)) return 0;
  return Math.min(1, Math.max(SHORTEST_BAR, (Math.log10(error) + 4) / 4));
}

function Statistic({ row, index, single }: { readonly row: DetailRow; readonly index: number; readonly single: boolean }) {
  const text = (leaf: LeafView | null): string => (leaf && leaf.kind === LEAF.tensor ? leaf.texts[index] : '');
  const named = row.statistic === index && (row.status === Status.error || row.status === Status.warning);
  return (
    <td class={named ? 'two named' : 'two'}>
      {single ? (
        text(row.target ?? row.golden)
      ) : (
        <>
          <span class="first">{text(row.target)}</span>
          <span class="second">{text(row.golden)}</span>
        </>
      )}
    </td>
  );
}

/** Range and mean of both sides on one axis: a shift or a scale is seen before the digits are read. */
function RangeStrip({ row }: { readonly row: DetailRow }) {
  const leaves = [row.target, row.golden].filter((leaf): leaf is LeafView => leaf !== null && leaf.kind === LEAF.tensor);
  const finite = leaves.filter((leaf) => Number.isFinite(leaf.numbers[0]) && Number.isFinite(leaf.numbers[1]));
  if (finite.length === 0) return null;
  const low = Math.min(...finite.map((leaf) => leaf.numbers[1]));
  const high = Math.max(...finite.map((leaf) => leaf.numbers[0]));
  const x = (value: number): number => (high > low ? ((value - low) / (high - low)) * 84 + 3 : 45);
  return (
    <svg class="range" width="90" height="22" viewBox="0 0 90 22" aria-hidden="true">
      {low < 0 && high > 0 ? <line class="zero" x1={x(0)} x2={x(0)} y1="1" y2="21" /> : null}
      {finite.map((leaf, k) => {
        const y = finite.length === 1 ? 11 : leaf === row.target ? 6 : 16;
        const [max, min, mean] = leaf.numbers;
        return (
          <g key={k} class={leaf === row.target ? 'first' : 'second'}>
            <line x1={x(min)} x2={Math.max(x(max), x(min) + 1)} y1={y} y2={y} />
            {Number.isFinite(mean) ? <circle cx={x(mean)} cy={y} r="2.500" /> : null}
          </g>
        );
      })}
    </svg>
  );
}

/** Where room is short what was found comes before the numbers that it follows from. */
const narrow = computed(() => canvasSize.value.width < 900 || heatmap.value !== null);

function Row({ open, shown, row }: { readonly open: Graph; readonly shown: Details; readonly row: DetailRow }) {
  const { pair } = shown;
  const words = dtypeShape(row);
  const single = !row.target || !row.golden;
  const cls = rowClass(open, pair, row);
  const item = cls > 0 ? causes.value?.classes[cls] : undefined;
  const verdict = verdictWords(row, originWords(open, pair, shown.rows, row));
  const found = [
    <td key="error" class="error" title={Number.isNaN(row.tolerance) ? undefined : t('details.tolerance', { tolerance: formatError(row.tolerance) })}>
      {formatError(row.error)}
      <span class="bar" style={{ '--w': `${barShare(row.error) * 100}%`, '--k': `var(--c-${item?.id ?? 'clean'})` }} />
    </td>,
    <td key="verdict" class={item ? 'words verdict-words strong' : 'words verdict-words'} title={verdict}>
      <span class="reason">
        {item ? <Sign item={item} /> : null}
        <Unbroken text={verdict} />
      </span>
    </td>,
  ];
  return (
    <tr class={item?.strong ? 'cause' : undefined}>
      <th scope="row" title={rowName(row)}>
        {rowName(row)}
        <MapButton row={row} />
        {single && open.golden && pair >= 0 ? <small> {t('findings.only', { side: t(row.target ? 'side.target' : 'side.golden') })}</small> : null}
      </th>
      {narrow.value ? found : null}
      <td class={words.differs ? 'words differs' : 'words'}>{words.text}</td>
      <td>
        <RangeStrip row={row} />
      </td>
      {STATISTICS.map((name, index) => (
        <Statistic key={name} row={row} index={index} single={single} />
      ))}
      {narrow.value ? null : found}
      {row.metrics.map(([name, value]) => (
        <td key={name}>{metricText(value)}</td>
      ))}
    </tr>
  );
}

/** The row that is the cause is what a person came for: where it lies below the fold the table is scrolled to it. */
function showCause(body: HTMLElement): void {
  const host = body.closest('.details-body');
  const row = body.querySelector('tr.cause');
  if (!host || !row) return;
  const hidden = row.getBoundingClientRect().bottom - host.getBoundingClientRect().bottom;
  if (hidden > 0) host.scrollTop += hidden + 2;
}

export function DetailTable({ open, shown }: { readonly open: Graph; readonly shown: Details }) {
  const body = useRef<HTMLTableSectionElement>(null);
  useLayoutEffect(() => {
    if (body.current) showCause(body.current);
  }, [shown]);
  const found = [
    <th key="error" scope="col">
      {t('details.error')}
    </th>,
    <th key="verdict" scope="col" class="words">
      {t('details.verdict')}
    </th>,
  ];
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{t('details.tensor')}</th>
          {narrow.value ? found : null}
          <th scope="col" class="words">
            {t('details.dtypeShape')}
          </th>
          <td />
          {STATISTICS.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
          {narrow.value ? null : found}
          {shown.rows[0].metrics.map(([name]) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {shown.rows.map((row) => (
          <Row key={row.key} open={open} shown={shown} row={row} />
        ))}
      </tbody>
    </table>
  );
}
