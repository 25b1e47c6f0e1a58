/** A bar that changes a size by dragging or with the arrow keys. */
import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';

interface Properties {
  readonly direction: 'vertical' | 'horizontal'; // of the bar itself
  readonly label: string;
  readonly size: Signal<number>;
  readonly smallest: number;
  readonly largest: number;
  readonly grows: 1 | -1; // what moving right or down does to the size
}

const KEY_STEP = 16;

export function Splitter({ direction, label, size, smallest, largest, grows }: Properties) {
  const held = useRef<{ at: number; size: number } | null>(null);
  const set = (value: number): void => {
    size.value = Math.round(Math.min(largest, Math.max(smallest, value)));
  };
  const position = (event: PointerEvent): number => (direction === 'vertical' ? event.clientX : event.clientY);
  const onKeyDown = (event: KeyboardEvent): void => {
    const [less, more] = direction === 'vertical' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
    if (event.key !== less && event.key !== more) return;
    event.preventDefault();
    event.stopPropagation();
    set(size.value + (event.key === more ? KEY_STEP : -KEY_STEP) * grows);
  };
  return (
    <div
      class={`splitter ${direction}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={direction}
      aria-valuenow={size.value}
      aria-valuemin={smallest}
      aria-valuemax={largest}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        held.current = { at: position(event), size: size.value };
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (held.current) set(held.current.size + (position(event) - held.current.at) * grows);
      }}
      onPointerUp={() => (held.current = null)}
      onPointerCancel={() => (held.current = null)}
    />
  );
}
