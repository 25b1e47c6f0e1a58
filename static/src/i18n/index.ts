/** Two languages, complete. `t` reads the locale signal, so whatever renders a text follows a switch. */
import { locale } from '../state/app';
import { core, type CoreKey } from './core';
import { details, type DetailsKey } from './details';
import { heatmapTexts, type HeatmapKey } from './heatmap';
import { panels, type PanelsKey } from './panels';

export type TextKey = CoreKey | DetailsKey | HeatmapKey | PanelsKey;

export const dictionaries = {
  en: { ...core.en, ...details.en, ...heatmapTexts.en, ...panels.en },
  zh: { ...core.zh, ...details.zh, ...heatmapTexts.zh, ...panels.zh },
} as const;

/** `{name}` in a text is replaced by the argument of that name. */
export function fill(template: string, parameters: Readonly<Record<string, string | number>> = {}): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(parameters, name) ? String(parameters[name]) : whole));
}

export function t(key: TextKey, parameters?: Readonly<Record<string, string | number>>): string {
  return fill(dictionaries[locale.value][key], parameters);
}

/** Picks the sentence of the chosen language from a text that came with the data. */
export function local(text: { readonly en: string; readonly zh: string } | null | undefined): string {
  if (!text) return '';
  return (locale.value === 'zh' ? text.zh || text.en : text.en || text.zh) ?? '';
}
