/** Everything that fits the query: names, numbers and properties, as they are typed; menus write into the query, so that it can be learnt and shared. */
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { classOf } from '../../core/colouring';
import { refOf, worstError } from '../../core/findings';
import { formatCount, formatError } from '../../core/format';
import { METRIC_NAMES, hasValue, setValue, toggleValue, valueOf, type Query } from '../../core/query';
import { ORDERS, type Order } from '../../core/search';
import { gain } from '../../core/search_terms';
import { distinctLabels, LABEL_BLOCK } from '../../core/short_names';
import { Direction, HOW_WORDS, NodeKind, otherSide, partners, sideOf, SIDES, type Graph } from '../../core/types';
import { t, type TextKey } from '../../i18n';
import { select } from '../../state/actions';
import { graph, names, narrow, panelWidth, query, selection } from '../../state/app';
import { reasonSummary } from '../../state/reasons';
import { absentNumbers } from '../../state/pair_numbers';
import { dtypes, dtypesMissing, order, parsed, result, wantDtypes } from '../../state/search';
import { causes } from '../../state/view';
import { className } from '../../i18n/class_names';
import { Sign } from '../sign';
import { VirtualList } from '../virtual_list';

const ROW = 44;
const KINDS = ['module', 'api', 'gradient', 'collection'] as const;
const DIRECTIONS = ['forward', 'backward'] as const;
const CHIPS = ['introduced', 'parameter', 'amplified', 'inherited', 'error', 'warning', 'incomparable', 'nonfinite', 'unmatched', 'group', 'expected'] as const;

function Menu({ label, field, values, word, open }: { readonly label: string; readonly field: string; readonly values: readonly string[]; readonly word: (value: string) => string; readonly open?: () => void }) {
  const now = valueOf(query.value, field);
  return (
    <label class={now ? 'tag menu-tag on' : 'tag menu-tag'}>
      {now ? `${label}: ${word(now)}` : label}
      <select value={now} aria-label={label} onPointerDown={open} onFocus={open} onChange={(event) => (query.value = setValue(query.value, field, (event.currentTarget as HTMLSelectElement).value))}>
        <option value="">{t('search.any')}</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {word(value)}
          </option>
        ))}
      </select>
    </label>
  );
}

function dtypeNames(): string[] {
  const known = dtypes.value?.columns;
  const all = new Set([...(known?.target?.names ?? []), ...(known?.golden?.names ?? [])]);
  // "torch.float32" and "Float32" are both found by their last component.
  return [...new Set([...all].map((name) => name.slice(name.lastIndexOf('.') + 1)))].sort();
}

const filtersOpen = signal(false);

/** Filters and order in one line; the filters themselves only when asked for, so that the hits have the room. */
function Tools({ open }: { readonly open: Graph }) {
  const used = parsed.value.terms.filter((term) => term.kind !== 'name').length;
  return (
    <div class="search-tools">
      <button class={filtersOpen.value || used > 0 ? 'tag on' : 'tag'} aria-expanded={filtersOpen.value} onClick={() => (filtersOpen.value = !filtersOpen.value)}>
        {t('search.filters')}
        {used > 0 ? ` ${used}` : ''} {filtersOpen.value ? '▴' : '▾'}
      </button>
      <label class="sort dim">
        {t('search.sort')}
        <select value={order.value} onChange={(event) => (order.value = (event.currentTarget as HTMLSelectElement).value as Order)}>
          {ORDERS.filter((item) => open.golden || item === 'call').map((item) => (
            <option key={item} value={item}>
              {t(`search.sort.${item}`)}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function Filters({ open }: { readonly open: Graph }) {
  const compared = open.golden !== null;
  const micro = open.summary.micro_steps;
  const reasons = open.summary.reasons.map((reason) => reason.id);
  return (
    <div class="tags">
      {CHIPS.filter((chip) => compared || chip === 'nonfinite').map((chip) => (
        <button key={chip} class={hasValue(query.value, 'is', chip) ? 'tag on' : 'tag'} aria-pressed={hasValue(query.value, 'is', chip)} onClick={() => (query.value = toggleValue(query.value, 'is', chip))}>
          {t(`search.is.${chip}`)}
        </button>
      ))}
      <span class="divider" />
      <Menu label={t('search.kind')} field="kind" values={KINDS} word={(value) => t(`search.kind.${value}` as TextKey)} />
      <Menu label={t('search.direction')} field="dir" values={DIRECTIONS} word={(value) => t(`direction.${value}` as TextKey)} />
      {compared ? <Menu label={t('search.side')} field="side" values={SIDES} word={(value) => t(`side.${value}` as TextKey)} /> : null}
      {compared ? <Menu label={t('search.how')} field="how" values={HOW_WORDS} word={(value) => t(`how.${value}` as TextKey)} /> : null}
      {reasons.length > 0 ? <Menu label={t('search.reason')} field="reason" values={reasons} word={(value) => value} /> : null}
      {dtypesMissing.value ? null : <Menu label={t('search.dtype')} field="dtype" values={dtypeNames()} word={(value) => value} open={wantDtypes} />}
      {micro > 1 ? <Menu label={t('search.micro')} field="micro" values={Array.from({ length: micro }, (_, k) => String(k))} word={(value) => value} /> : null}
    </div>
  );
}

function Problems({ of, hits }: { readonly of: Query; readonly hits: number }) {
  const absent = absentNumbers.value.filter((field) => of.terms.some((term) => term.kind === 'number' && term.field === field));
  return (
    <>
      {absent.map((field) => (
        <p key={field} class="problem" role="alert">
          {t(field in METRIC_NAMES ? 'search.noMetric' : 'search.noStatistic', { field })}
        </p>
      ))}
      {of.problems
        .filter((problem) => problem.code !== 'noKey' || hits === 0) // names may hold colons
        .map((problem) => (
        <p key={`${problem.from}`} class="problem" role="alert">
          {t(`search.problem.${problem.code}`, { word: problem.word, hint: problem.hint })}
        </p>
      ))}
    </>
  );
}

/** Labels of the block that a row is in; the last few blocks are kept. */
const blocks = new Map<string, string[]>();
let blocksOf: Int32Array | null = null;

function labelOf(open: Graph, rows: Int32Array, index: number, length: number): string {
  const known = names.value;
  if (!known) return '';
  if (blocksOf !== rows || blocks.size > 40) {
    blocks.clear();
    blocksOf = rows;
  }
  const block = Math.floor(index / LABEL_BLOCK);
  const at = `${block}|${length}`;
  let labels = blocks.get(at);
  if (!labels) {
    const part = rows.subarray(block * LABEL_BLOCK, (block + 1) * LABEL_BLOCK);
    const trails = Array.from(part, (row) => {
      const ref = refOf(row);
      const side = sideOf(open, ref.side);
      return side ? known.trail(side, ref.node) : [];
    });
    labels = distinctLabels(trails, length);
    blocks.set(at, labels);
  }
  return labels[index % LABEL_BLOCK] ?? '';
}

function Row({ open, rows, index, length, by }: { readonly open: Graph; readonly rows: Int32Array; readonly index: number; readonly length: number; readonly by: Order }) {
  const ref = refOf(rows[index]);
  const side = sideOf(open, ref.side);
  const colouring = causes.value;
  const known = names.value;
  if (!side || !colouring || !known) return null;
  const item = classOf(colouring, ref.side, ref.node);
  const pair = side.pair[ref.node];
  const parts = known.of(side, ref.node);
  const kind = side.kind[ref.node];
  const words = [
    ref.side === 'golden' ? t('side.golden') : '',
    kind !== NodeKind.api && side.call[ref.node] > 0 ? `#${side.call[ref.node]}` : '',
    side.direction[ref.node] === Direction.backward ? t('direction.backward') : '',
    kind === NodeKind.module ? parts.type : '',
    open.golden ? className(item, 'cause') : '',
    pair >= 0 ? reasonSummary(open, pair) : '',
  ].filter(Boolean);
  const value = pair < 0 ? Number.NaN : by === 'gain' ? gain(open, pair) : worstError(open, pair);
  const other = open.golden ? partners(open, ref.side, ref.node) : [];
  const there = sideOf(open, otherSide(ref.side));
  const title = [known.full(side, ref.node), ...Array.from(other, (node) => (there ? `↔ ${known.full(there, node)}` : ''))].join('\n');
  return (
    <>
      <Sign item={item} />
      <span class="words" title={title}>
        <span class="name">{labelOf(open, rows, index, length)}</span>
        <small>{words.join(t('list.comma'))}</small>
      </span>
      <span class="number">{formatError(value) || '–'}</span>
    </>
  );
}

/** Arrow down and Enter in a search box go to the list. */
function toList(event: KeyboardEvent, choose: () => void): void {
  if (event.key !== 'ArrowDown' && event.key !== 'Enter') return;
  event.preventDefault();
  (document.querySelector('.search-panel [role=listbox]') as HTMLElement | null)?.focus();
  choose();
}

/** Somebody is writing in the box of the bar, which is taken away as the panel opens: they go on in the panel's own. */
export const handedOver = signal(false);

/** Where the window is narrow the box in the bar above would show a few letters only: this one takes its place. */
function OwnBox() {
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (!handedOver.peek()) return;
    handedOver.value = false;
    box.current?.focus();
    box.current?.setSelectionRange(query.peek().length, query.peek().length);
  }, []);
  return (
    <input
      id="search-box"
      class="own-box"
      ref={box}
      type="search"
      spellcheck={false}
      autocomplete="off"
      aria-label={t('search.label')}
      title={`${t('search.label')} (/)`}
      placeholder={t('search.placeholderShort')}
      value={query.value}
      onInput={(event) => (query.value = (event.currentTarget as HTMLInputElement).value)}
    />
  );
}

function useSearchBox(choose: () => void): void {
  useEffect(() => {
    const box = document.getElementById('search-box');
    if (!box) return undefined;
    const onKey = (event: KeyboardEvent): void => toList(event, choose);
    box.addEventListener('keydown', onKey);
    return () => box.removeEventListener('keydown', onKey);
  });
}

export function SearchPanel() {
  const open = graph.value;
  const found = result.value;
  const rows = found?.rows ?? new Int32Array(0);
  const ref = selection.value;
  // The row of the selection itself, or of its counterpart.
  const own = ref ? rows.indexOf(ref.side === 'target' ? ref.node : -1 - ref.node) : -1;
  const go = (index: number): void => {
    if (rows.length > 0) select(refOf(rows[index]), { reveal: true, centre: true });
  };
  useSearchBox(() => go(own >= 0 ? own : 0));
  if (!open) return null;
  const box = narrow.value ? <OwnBox /> : null;
  if (!found) {
    return (
      <div class="findings search-panel">
        <h2>{t('search.title')}</h2>
        {box}
      </div>
    );
  }
  const length = Math.max(18, Math.floor((panelWidth.value - 100) / 6.6));
  return (
    <div class="findings search-panel">
      <h2>
        {t('search.title')} <span class="dim count">{t('search.hits', { count: formatCount(rows.length) })}</span>
      </h2>
      {box}
      <Tools open={open} />
      {filtersOpen.value ? <Filters open={open} /> : null}
      <Problems of={parsed.value} hits={rows.length} />
      {rows.length === 0 ? (
        <p class="dim hint">{t('search.none')}</p>
      ) : (
        <VirtualList id="hit" label={t('search.title')} count={rows.length} rowHeight={ROW} active={own} row={(index) => <Row open={open} rows={rows} index={index} length={length} by={order.value} />} choose={go} />
      )}
      <details class="help-text">
        <summary>{t('search.help')}</summary>
        <dl>
          {(['name', 'glob', 'regex', 'number', 'statistic', 'is', 'not', 'path', 'quote'] as const).map((entry) => (
            <div key={entry}>
              <dt>
                <button class="link" onClick={() => (query.value = t(`search.example.${entry}`))}>
                  <code>{t(`search.example.${entry}`)}</code>
                </button>
              </dt>
              <dd>{t(`search.explain.${entry}`)}</dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  );
}
