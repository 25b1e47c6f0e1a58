/** Two languages, complete. `t` reads the locale signal, so whatever renders a text follows a switch. */
import type { Said } from '../core/types';
import type { LocalText } from '../wire/source';
import { core, type CoreKey } from './core';
import { details, type DetailsKey } from './details';
import { fill } from './fill';
import { heatmapTexts, type HeatmapKey } from './heatmap';
import { locale } from './locale';
import { inChinese } from './messages';
import { meanings, type MeaningKey } from './meanings';
import { panels, type PanelsKey } from './panels';

export type TextKey = CoreKey | DetailsKey | HeatmapKey | MeaningKey | PanelsKey;

export const dictionaries = {
  en: { ...core.en, ...details.en, ...heatmapTexts.en, ...meanings.en, ...panels.en },
  zh: { ...core.zh, ...details.zh, ...heatmapTexts.zh, ...meanings.zh, ...panels.zh },
} as const;

export { fill };

export function t(key: TextKey, parameters?: Readonly<Record<string, string | number>>): string {
  return fill(dictionaries[locale.value][key], parameters);
}

/** A message of the converter in the chosen language. */
export function say(said: string | Said | null | undefined): string {
  if (!said || typeof said === 'string') return said ?? '';
  return locale.value === 'zh' ? inChinese(said) : said.text;
}

/** Picks the sentence of the chosen language from a text that came with the data. */
export function local(text: LocalText | null | undefined): string {
  if (!text) return '';
  if (text.said && locale.value === 'zh') return say(text.said);
  return (locale.value === 'zh' ? text.zh || text.en : text.en || text.zh) ?? '';
}
