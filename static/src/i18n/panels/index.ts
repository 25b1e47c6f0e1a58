/** Texts of the panels beside the rail. Keys begin with the panel's id. */
import { convertTexts, type ConvertKey } from './convert';
import { mappingTexts, type MappingKey } from './mapping';
import { matchesTexts, type MatchesKey } from './matches';
import { searchTexts, type SearchKey } from './search';
import { shareTexts, type ShareKey } from './share';
import { triageTexts, type TriageKey } from './triage';

export type PanelsKey = SearchKey | MatchesKey | MappingKey | TriageKey | ShareKey | ConvertKey;

export const panels: { en: Record<PanelsKey, string>; zh: Record<PanelsKey, string> } = {
  en: { ...searchTexts.en, ...matchesTexts.en, ...mappingTexts.en, ...triageTexts.en, ...shareTexts.en, ...convertTexts.en },
  zh: { ...searchTexts.zh, ...matchesTexts.zh, ...mappingTexts.zh, ...triageTexts.zh, ...shareTexts.zh, ...convertTexts.zh },
};
