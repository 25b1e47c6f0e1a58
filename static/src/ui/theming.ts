/** Light and dark: a choice of the person's, else TensorBoard's, else the system's. The canvases read their colours from here. */
import { computed, effect, signal } from '@preact/signals';
import { hostDark } from '../host/tensorboard';
import { readTheme, type Theme } from '../paint/theme';
import { dark, theme as choice } from '../state/app';

const applied = signal(0);

/** Sets the class that the style sheet switches on; call once. */
export function followTheme(root: HTMLElement): void {
  effect(() => {
    dark.value = choice.value === 'auto' ? hostDark.value : choice.value === 'dark';
    root.classList.toggle('dark', dark.value);
    root.style.colorScheme = dark.value ? 'dark' : 'light';
    applied.value = applied.peek() + 1;
  });
}

export const theme = computed<Theme>(() => {
  void applied.value;
  return readTheme(document.documentElement);
});
