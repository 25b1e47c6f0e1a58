/** The sign of a class: a shape or letter in its colour, so that colour never speaks alone. */
import type { ColourClass } from '../core/colouring';
import { t, type TextKey } from '../i18n';

/** What a class is called under a colour mode (its first two classes mean different things in different modes). */
export function className(item: ColourClass, mode: string): string {
  if (item.id === 'clean' && mode === 'how') return t('legend.exact');
  if (item.id === 'clean' && mode === 'status') return t('legend.pass');
  return t(`class.${item.id}` as TextKey);
}

export function Sign({ item }: { readonly item: ColourClass }) {
  return (
    <span class={`sign ${item.strong ? 'strong' : 'weak'} ${item.id === 'unmatched' || item.id === 'incomparable' ? 'hatched' : ''}`} style={{ '--k': `var(--c-${item.id})`, '--i': `var(--s-${item.id}, var(--dim))` }} aria-hidden="true">
      {item.sign}
    </span>
  );
}
