/** Names for lists: short, and never the same for two rows that stand near each other. */
import { shortenMiddle } from './names';

/** Rows that are looked at together; labels depend on the block alone, so that they do not change while scrolling. */
export const LABEL_BLOCK = 64;
const SEPARATOR = ' · ';

/** The parts of a trail that are shown, as indices; the last one always. */
function label(trail: readonly string[], shown: ReadonlySet<number>): string {
  const words: string[] = [];
  let skipped = false;
  trail.forEach((part, i) => {
    if (shown.has(i)) {
      if (skipped && words.length > 0) words.push('…');
      words.push(part);
      skipped = false;
    } else skipped = true;
  });
  return words.join(SEPARATOR);
}

/** What says most: the numbered component nearest to the end ("layers.12"), and the last one. */
function first(trail: readonly string[]): Set<number> {
  const last = trail.length - 1;
  const shown = new Set<number>(last >= 0 ? [last] : []);
  for (let i = last - 1; i >= 0; i--) {
    if (/\d/.test(trail[i])) {
      shown.add(i);
      break;
    }
  }
  if (shown.size === 1 && last > 0) shown.add(last - 1);
  return shown;
}

/**
 * One label for each trail (outermost component first). Where two would read the same, components in which they differ
 * are added until they do not, or the trails are equal. `length`: characters that a label should have at most.
 */
export function distinctLabels(trails: readonly (readonly string[])[], length: number): string[] {
  const shown = trails.map(first);
  const groups = (texts: readonly string[]): number[][] => {
    const by = new Map<string, number[]>();
    texts.forEach((text, i) => {
      const group = by.get(text);
      if (group) group.push(i);
      else by.set(text, [i]);
    });
    return [...by.values()].filter((group) => group.length > 1);
  };
  for (let round = 0; round < 12; round++) {
    const same = groups(trails.map((trail, i) => label(trail, shown[i])));
    let changed = false;
    for (const group of same) {
      const deepest = Math.max(...group.map((i) => trails[i].length));
      // Counted from the end, since what the trails have in common at the end is the name itself.
      for (let back = 1; back <= deepest; back++) {
        const parts = new Set(group.map((i) => trails[i][trails[i].length - back] ?? ''));
        const hidden = group.some((i) => trails[i].length >= back && !shown[i].has(trails[i].length - back));
        if (parts.size > 1 && hidden) {
          for (const i of group) if (trails[i].length >= back) shown[i].add(trails[i].length - back);
          changed = true;
          break;
        }
      }
    }
    if (!changed) break;
  }
  const full = trails.map((trail, i) => label(trail, shown[i]));
  const cut = full.map((text) => (Array.from(text).length <= length ? text : shortenMiddle(text.replaceAll(`${SEPARATOR}…${SEPARATOR}`, '…'), length)));
  // Cutting the middle out may take away exactly what told two apart: then what they share at the start goes instead.
  for (const group of groups(cut)) {
    const distinct = new Set(group.map((i) => full[i]));
    if (distinct.size > 1) for (const i of group) cut[i] = full[i];
  }
  return cut;
}
