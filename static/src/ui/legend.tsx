/** What the colours mean now; for a metric also the error up to which a node counts as clean. */
import { columnOf, type ColourClass } from '../core/colouring';
import { CLASS_LIMIT, countRange } from '../core/counts';
import { formatCount } from '../core/format';
import { sideOf, SIDES } from '../core/types';
import { t } from '../i18n';
import { graph, threshold } from '../state/app';
import { colours } from '../state/view';
import { className } from '../i18n/class_names';
import { Sign } from './sign';

const scratch = new Uint32Array(CLASS_LIMIT);
const STEPS = [0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1];

function Threshold() {
  const at = Math.max(0, STEPS.findIndex((value) => value >= threshold.value));
  return (
    <label class="threshold">
      <span>
        {t('legend.threshold')} <b>{STEPS[at]}</b>
      </span>
      <input type="range" min={0} max={STEPS.length - 1} step={1} value={at} aria-label={t('legend.threshold')} aria-valuetext={String(STEPS[at])} onInput={(event) => (threshold.value = STEPS[Number((event.currentTarget as HTMLInputElement).value)])} />
    </label>
  );
}

export interface LegendEntry {
  readonly item: ColourClass;
  readonly cls: number;
  readonly count: number;
}

/** The classes that the legend names; none where nothing is coloured. */
export function legendEntries(): readonly LegendEntry[] {
  const open = graph.value;
  const colouring = colours.value;
  if (!open || !colouring || colouring.mode === 'none') return [];
  const counts = new Uint32Array(CLASS_LIMIT);
  for (const which of SIDES) {
    const side = sideOf(open, which);
    const column = columnOf(colouring, which);
    if (!side || !column) continue;
    countRange(column, 1, side.count, scratch);
    scratch.forEach((count, cls) => (counts[cls] += count));
  }
  const scale = colouring.scaleFirst > 0;
  // A scale is only read whole; other classes are listed where they occur.
  return colouring.classes.map((item, cls) => ({ item, cls, count: counts[cls] })).filter(({ count, cls }) => count > 0 || (scale && cls >= colouring.scaleFirst));
}

export function Legend() {
  const shown = legendEntries();
  const colouring = colours.value;
  if (shown.length === 0 || !colouring) return null;
  return (
    <footer class="legend" aria-label={t('legend.label')}>
      {shown.map(({ item, cls, count }) => (
        <span key={cls} class="entry" title={formatCount(count)}>
          <Sign item={item} />
          {className(item, colouring.mode)}
        </span>
      ))}
      {colouring.scaleFirst > 0 ? <Threshold /> : null}
    </footer>
  );
}
