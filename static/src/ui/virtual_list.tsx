/** A list of any length: only what is in view is in the document. Long lists get a scaled scroll bar, since a browser's ends at some 30 million pixels. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

interface Properties {
  readonly id: string;
  readonly label: string;
  readonly count: number;
  readonly rowHeight: number;
  readonly active: number; // index that is kept in view, -1 = none
  readonly row: (index: number) => ComponentChildren;
  readonly choose: (index: number) => void;
  readonly move?: (index: number) => void; // arrow keys; the same as choose when left out
}

const TALLEST = 8_000_000;
const SPARE = 4;
const ASSUMED = 400; // pixels, until the browser has laid the list out

export function VirtualList({ id, label, count, rowHeight, active, row, choose, move }: Properties) {
  const host = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState(0);
  const [measured, setMeasured] = useState(0);
  const height = measured || ASSUMED;
  const full = count * rowHeight;
  const tall = Math.min(full, TALLEST);
  // Where the list is long, one pixel of the scroll bar stands for several of the list.
  const ratio = full > tall ? (full - height) / Math.max(1, tall - height) : 1;
  const offset = scroll * ratio;
  const first = Math.max(0, Math.floor(offset / rowHeight) - SPARE);
  const last = Math.min(count, Math.ceil((offset + height) / rowHeight) + SPARE);

  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setMeasured(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = host.current;
    if (!element || active < 0 || measured === 0) return;
    const top = active * rowHeight;
    // What is known is used, not what the browser would say: asking it has the whole page laid out at once.
    if (top < offset || top + rowHeight > offset + height) element.scrollTop = Math.max(0, top - height / 3) / ratio;
  }, [active, count, measured > 0]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const steps: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: count - 1 };
    if (event.key === 'Enter' && active >= 0) choose(active);
    else if (event.key in steps && count > 0) (move ?? choose)(Math.min(count - 1, Math.max(0, steps[event.key])));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const rows: ComponentChildren[] = [];
  for (let index = first; index < last; index++) {
    rows.push(
      <div
        key={index}
        id={`${id}-${index}`}
        role="option"
        aria-selected={index === active}
        aria-setsize={count}
        aria-posinset={index + 1}
        class={index === active ? 'item selected' : 'item'}
        style={{ top: `${index * rowHeight - offset + scroll}px`, height: `${rowHeight}px` }}
        onClick={() => choose(index)}
      >
        {row(index)}
      </div>,
    );
  }
  return (
    <div
      ref={host}
      class="virtual scrolls"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={active >= first && active < last ? `${id}-${active}` : undefined}
      onScroll={(event) => setScroll((event.currentTarget as HTMLDivElement).scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div style={{ height: `${tall}px`, position: 'relative' }}>{rows}</div>
    </div>
  );
}
