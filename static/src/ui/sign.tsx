/** The sign of a class: a shape or letter in its colour, so that colour never speaks alone. */
import type { ColourClass } from '../core/colour_class';

export function Sign({ item }: { readonly item: ColourClass }) {
  return (
    <span class={`sign ${item.strong ? 'strong' : 'weak'} ${item.id === 'unmatched' || item.id === 'incomparable' ? 'hatched' : ''}`} style={{ '--k': `var(--c-${item.id})`, '--i': `var(--s-${item.id}, var(--dim))` }} aria-hidden="true">
      {item.sign}
    </span>
  );
}
