/**
 * The panels beside the rail, in the order of their icons. A panel is one component without properties that reads and
 * writes the signals of state/app.ts; it is shown while `panel.value` is its id.
 */
import type { ComponentType } from 'preact';
import type { TextKey } from '../../i18n';
import { graph, panel, type PanelId } from '../../state/app';
import { usualPanel } from '../../state/preferences';
import { ConvertPanel, mayConvert } from './convert';
import { FindingsPanel } from './findings';
import { MappingPanel } from './mapping';
import { MatchesPanel } from './matches';
import { SearchPanel } from './search';
import { SharePanel } from './share';
import { TriagePanel } from './triage';

export interface PanelEntry {
  readonly id: PanelId;
  readonly title: TextKey;
  readonly icon: string; // path data of a 16 × 16 icon, drawn with the current colour as a stroke
  readonly key?: string; // keyboard shortcut
  readonly component: ComponentType;
  readonly shown?: () => boolean; // left out = always
}

/** A single graph has nothing that could be found, matched or expected to differ. */
const compared = (): boolean => graph.value?.golden !== null;

export const PANELS: readonly PanelEntry[] = [
  { id: 'findings', title: 'findings.title', icon: 'M2 4h12M2 8h12M2 12h8', component: FindingsPanel, shown: compared },
  { id: 'search', title: 'search.title', icon: 'M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9M10.300 10.300L14 14', key: 's', component: SearchPanel },
  { id: 'matches', title: 'matches.title', icon: 'M2 5h11l-2.500-2.500M14 11H3l2.500 2.500', key: 'm', component: MatchesPanel, shown: compared },
  { id: 'mapping', title: 'mapping.title', icon: 'M2 3h4v3H2zM10 2h4v3h-4zM10 7h4v3h-4zM10 12h4v2.500h-4zM6 4.500h4M8 4.500v8.700h2M8 8.500h2', key: 'l', component: MappingPanel, shown: compared },
  { id: 'triage', title: 'triage.title', icon: 'M4 14V2.500h8l-2 3 2 3H4', key: 'e', component: TriagePanel, shown: compared },
  { id: 'share', title: 'share.title', icon: 'M8 10V2M5 4.500L8 2l3 2.500M3 8v6h10V8', component: SharePanel },
  { id: 'convert', title: 'convert.title', icon: 'M8 2v8M5 7.500L8 10.500l3-3M3 13.500h10', component: ConvertPanel, shown: mayConvert },
];

export function offered(): readonly PanelEntry[] {
  return PANELS.filter((entry) => entry.shown?.() ?? true);
}

/** The panel that is open and belongs to this graph. */
export function openPanel(): PanelEntry | undefined {
  return offered().find((entry) => entry.id === panel.value);
}

/** A panel that an address asks for and that is not offered here gives way to the one that opens where none is asked for. */
export function dropPanelNotOffered(): void {
  if (panel.value !== null && graph.value && !openPanel()) panel.value = compared() ? usualPanel() : null;
}
