/** Effects that draw: unlike useSignalEffect, which comes behind the frame, they are part of the frame that shows what they draw on. */
import { effect } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Runs `draw` when the component is in the page, and again whenever a signal that it reads changes. */
export function useDrawing(draw: () => void | (() => void)): void {
  const current = useRef(draw);
  current.current = draw;
  useLayoutEffect(() => effect(() => current.current()), []);
}
