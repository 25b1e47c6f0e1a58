/** What TensorBoard loads: it imports this module and calls `render`. Small, so that the graph is asked for before the viewer itself is there. */
import { graphKey, hashFields, readHash } from './host/address';
import { HttpSource } from './wire/http';
import { AskedAhead } from './wire/opening';

/** Address of the module below, from this one; vite.config.ts writes it in. */
declare const __VIEWER__: string;

const LONGEST_WAIT = 150; // milliseconds: whoever waits for a slow server must see that it is being asked

export async function render(): Promise<void> {
  const asked = window.__TB_GRAPH_EMBEDDED__ ? null : new AskedAhead(new HttpSource());
  if (asked) {
    const viewer = document.createElement('link');
    viewer.rel = 'modulepreload';
    viewer.href = new URL(__VIEWER__, import.meta.url).href;
    document.head.append(viewer);
    // Starting the viewer keeps the page busy for a tenth of a second: whatever can be under way by then should be.
    await Promise.race([asked.ask(graphKey(hashFields(readHash()))), new Promise((done) => setTimeout(done, LONGEST_WAIT))]);
  }
  const { start } = await import('./app');
  start(document.body, asked);
}
