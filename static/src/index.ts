/** What TensorBoard loads: it imports this module and calls `render`. Small, so that the graph is asked for before the viewer itself is there. */
import { graphKey, hashFields, readHash } from './host/address';
import { browserLocale } from './i18n/browser_locale';
import { HttpSource } from './wire/http';
import { AskedAhead } from './wire/opening';

/** Address of the module below, from this one; vite.config.ts writes it in. */
declare const __VIEWER__: string;

const LONGEST_WAIT = 150; // milliseconds: whoever waits for a slow server must see that it is being asked
const SLOW = 1000; // milliseconds until an empty page says what it waits for

const TEXTS = {
  en: {
    waiting: 'Loading the viewer…',
    failed: "The viewer's script could not be loaded or started. The server may have been stopped or updated: reload the page. If that does not help, install tb_graph_ascend again.",
    reload: 'Reload',
  },
  zh: {
    waiting: '正在加载界面…',
    failed: '界面脚本无法加载或启动。服务器可能已停止或已更新：请刷新页面；若仍无效，请重新安装 tb_graph_ascend。',
    reload: '刷新',
  },
};

/** Before the viewer is there, or in its place. On white: TensorBoard may be dark behind the frame. */
function say(text: string, ...below: HTMLElement[]): void {
  const box = document.createElement('div');
  box.setAttribute('role', below.length > 0 ? 'alert' : 'status');
  box.style.cssText = 'padding:24px;font:14px sans-serif;color:#222;background:#fff;overflow-wrap:anywhere';
  const sentence = document.createElement('p');
  sentence.textContent = text;
  box.append(sentence, ...below);
  document.body.replaceChildren(box);
}

function sayFailed(problem: unknown): void {
  const texts = TEXTS[browserLocale()];
  const reload = document.createElement('button');
  reload.textContent = texts.reload;
  reload.onclick = () => location.reload();
  const reason = document.createElement('p');
  reason.textContent = problem instanceof Error ? problem.message : String(problem);
  say(texts.failed, reason, reload);
}

export async function render(): Promise<void> {
  const slow = setTimeout(() => say(TEXTS[browserLocale()].waiting), SLOW);
  try {
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
    clearTimeout(slow);
    start(document.body, asked);
  } catch (problem) {
    clearTimeout(slow);
    sayFailed(problem);
  }
}
