/**
 * The panels beside the rail, in the order of their icons. A panel is one component without properties that reads and
 * writes the signals of state/app.ts; it is shown while `panel.value` is its id.
 */
import type { ComponentType } from 'preact';
import type { TextKey } from '../../i18n';
import { FindingsPanel } from './findings';

export interface PanelEntry {
  readonly id: string;
  readonly title: TextKey;
  readonly icon: string; // path data of a 16 × 16 icon, drawn with the current colour as a stroke
  readonly key?: string; // keyboard shortcut
  readonly component: ComponentType;
}

export const PANELS: readonly PanelEntry[] = [
  { id: 'findings', title: 'findings.title', icon: 'M2 4h12M2 8h12M2 12h8', component: FindingsPanel },
];
