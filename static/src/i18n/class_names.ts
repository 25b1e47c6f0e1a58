/** What a class is called under a colour mode: the first ones mean different things in different modes. */
import type { ColourClass } from '../core/colour_class';
import type { ColourMode } from '../core/colouring';
import { t, type TextKey } from '.';

export function className(item: ColourClass | undefined, mode: ColourMode): string {
  if (!item) return '';
  if (item.range !== undefined) return item.range;
  if (item.id === 'clean' && mode === 'how') return t('legend.exact');
  if (item.id === 'clean' && mode === 'status') return t('legend.pass');
  return t(`class.${item.id}` as TextKey);
}
