/** Which tab of the mapping panel is open, and the line of the text that it is to show. */
import { signal } from '@preact/signals';

export type Tab = 'rules' | 'text' | 'left' | 'proposals';
export const TABS: readonly Tab[] = ['rules', 'text', 'left', 'proposals'];
export const tab = signal<Tab>('rules');
export const jump = signal(0); // line of the text to show, 0 = none

export function showLine(line: number): void {
  tab.value = 'text';
  jump.value = line;
}
