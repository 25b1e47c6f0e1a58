/** What the colours mean now; for a metric also the error up to which a node counts as clean. */
import type { ColourClass } from '../core/colour_class';
import { columnOf } from '../core/colouring';
import { CLASS_LIMIT, countRange } from '../core/counts';
import { formatCount } from '../core/format';
import { boundOf, boundText, thresholdStops, type Scale } from '../core/scale';
import { sideOf, SIDES } from '../core/types';
import { t } from '../i18n';
import { graph, threshold } from '../state/app';
import { colours } from '../state/view';
import { classMeaning, className } from '../i18n/class_names';
import { Sign } from './sign';

const scratch = new Uint32Array(CLASS_LIMIT);

function Threshold({ scale }: { readonly scale: Scale }) {
  const stops = thresholdStops(scale);
  const found = stops.findIndex((value) => value >= threshold.value);
  const at = found < 0 ? stops.length - 1 : found;
  const text = boundText(threshold.value);
  return (
    <label class="threshold">
      <span>
        {t('legend.threshold')} <b>{text}</b>
      </span>
      <input type="range" min={0} max={stops.length - 1} step={1} value={at} aria-label={t('legend.threshold')} aria-valuetext={text} onInput={(event) => (threshold.value = stops[Number((event.currentTarget as HTMLInputElement).value)])} />
    </label>
  );
}

/** The steps as one gradient from its lowest to its highest bound; each says on hover what it stands for and how many there are. */
function Gradient({ scale, steps }: { readonly scale: Scale; readonly steps: readonly LegendEntry[] }) {
  const [low, high] = [boundText(boundOf(scale, 1)), boundText(boundOf(scale, steps.length - 1))];
  return (
    <span class="gradient" role="img" aria-label={t('legend.scale', { low, high })}>
      {low}
      <span class="steps">
        {steps.map(({ item, cls, count }) => (
          <span key={cls} class="step" style={{ '--k': `var(--c-${item.id})` }} title={`${item.range ?? ''}: ${formatCount(count)}`} />
        ))}
      </span>
      {high}
    </span>
  );
}

export interface LegendEntry {
  readonly item: ColourClass;
  readonly cls: number;
  readonly count: number;
}

/** The classes that occur; none where nothing is coloured. */
export function legendEntries(): readonly LegendEntry[] {
  return countedClasses().filter(({ count }) => count > 0);
}

function countedClasses(): readonly LegendEntry[] {
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
  return colouring.classes.map((item, cls) => ({ item, cls, count: counts[cls] }));
}

export function Legend() {
  const all = countedClasses();
  const colouring = colours.value;
  const shown = all.filter(({ item, count }) => count > 0 && item.range === undefined);
  if (all.length === 0 || !colouring) return null;
  return (
    <footer class="legend" aria-label={t('legend.label')}>
      {shown.map(({ item, cls, count }) => (
        <span key={cls} class="entry" title={[formatCount(count), colouring.mode === 'cause' ? classMeaning(item) : ''].filter(Boolean).join(': ')}>
          <Sign item={item} />
          {className(item, colouring.mode)}
        </span>
      ))}
      {colouring.scale ? <Gradient scale={colouring.scale} steps={all.filter(({ item }) => item.range !== undefined)} /> : null}
      {colouring.scale ? <Threshold scale={colouring.scale} /> : null}
    </footer>
  );
}
