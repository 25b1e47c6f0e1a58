/** What a class is called under a colour mode: the first ones mean different things in different modes. */
import type { ColourClass } from '../core/colour_class';
import type { ColourMode } from '../core/colouring';
import { t, type TextKey } from '.';

const EXPLAINED = new Set(['clean', 'parameter', 'introduced', 'amplified', 'inherited', 'recovered', 'incomparable', 'unmatched', 'warning', 'error', 'expected']);

/** One sentence about a class of the colour mode "cause"; '' where the word says it all. */
export function classMeaning(item: ColourClass | undefined): string {
  return item && EXPLAINED.has(item.id) ? t(`meaning.${item.id}` as TextKey) : '';
}

export function className(item: ColourClass | undefined, mode: ColourMode): string {
  if (!item) return '';
  if (item.range !== undefined) return item.range;
  if (item.id === 'clean' && mode === 'how') return t('legend.exact');
  if (item.id === 'clean' && mode === 'status') return t('legend.pass');
  return t(`class.${item.id}` as TextKey);
}
