/** Buttons that panels add to the head of the details (match, expected, heatmap): components without properties. */
import type { ComponentType } from 'preact';

export const detailActions: ComponentType[] = [];
