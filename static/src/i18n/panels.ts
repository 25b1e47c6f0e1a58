/** Texts of the panels beside the rail (search, mapping, matches, triage, share). Keys begin with the panel's id. */

const en = {} as const;

export type PanelsKey = keyof typeof en;

const zh: Record<PanelsKey, string> = {};

export const panels: { en: Record<PanelsKey, string>; zh: Record<PanelsKey, string> } = { en, zh };
