/** Colours and fonts for the canvases, read once per theme from the CSS custom properties that the DOM uses as well. */
import type { ColourClass } from '../core/colour_class';

export interface Theme {
  readonly background: string;
  readonly panel: string;
  readonly ink: string;
  readonly dim: string;
  readonly line: string;
  readonly soft: string;
  readonly accent: string;
  readonly onStrong: string; // text on the fill of a strong class
  readonly family: string;
  readonly fill: (cls: ColourClass | undefined) => string;
  readonly sign: (cls: ColourClass | undefined) => string; // colour of the sign when it stands on the panel
}

export function readTheme(element: Element): Theme {
  const style = getComputedStyle(element);
  const variable = (name: string): string => style.getPropertyValue(name).trim();
  // Asked for thousands of times a picture: one look-up by the class's own name, no text put together.
  const cached = (prefix: string, fallback: string): ((cls: ColourClass | undefined) => string) => {
    const cache = new Map<string, string>();
    return (cls) => {
      if (!cls) return fallback;
      let value = cache.get(cls.id);
      if (value === undefined) {
        value = variable(`--${prefix}-${cls.id}`) || fallback;
        cache.set(cls.id, value);
      }
      return value;
    };
  };
  const dim = variable('--dim');
  const line = variable('--line');
  return {
    background: variable('--bg'),
    panel: variable('--panel'),
    ink: variable('--ink'),
    dim,
    line,
    soft: variable('--soft'),
    accent: variable('--accent'),
    onStrong: variable('--on-strong') || '#fff',
    family: variable('--font') || 'system-ui, sans-serif',
    fill: cached('c', line),
    sign: cached('s', dim),
  };
}
