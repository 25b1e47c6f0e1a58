/**
 * The page around the viewer. Inside TensorBoard the viewer is an iframe of the same origin: dark mode is a class on the
 * parent's body, and the reload button sends a message. Stand-alone all of that is the page's own. Everything is tried
 * carefully: notebooks and editors put frames of other origins around.
 */
import { signal } from '@preact/signals';
import { parentWindow } from './address';

/** Whether the surroundings are dark. */
export const hostDark = signal(false);

export function followHostDark(): void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const outer = parentWindow();
  const read = (): void => {
    hostDark.value = outer ? outer.document.body.classList.contains('dark-mode') : system.matches;
  };
  read();
  if (outer) new MutationObserver(read).observe(outer.document.body, { attributes: true, attributeFilter: ['class'] });
  else system.addEventListener('change', read);
}

/** Takes the keyboard, so that keys work before the first click; not away from a field that somebody is typing in. */
export function takeFocus(): void {
  const outer = parentWindow();
  const busy = outer?.document.activeElement;
  if (!outer || !busy || busy === outer.document.body || busy.tagName === 'IFRAME') window.focus();
}

export function embedded(): boolean {
  return window.parent !== window;
}

interface HostMessage {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly isReply?: unknown;
}

/**
 * TensorBoard's reload button and timer. The host library asks for a message channel once and then sends messages
 * {type, id, payload, isReply} as JSON text; each wants a reply.
 */
export function onHostReload(reload: () => void): void {
  if (!embedded()) return;
  const channel = new MessageChannel();
  const port = channel.port1;
  port.onmessage = (event: MessageEvent<unknown>) => {
    let message: HostMessage;
    try {
      message = JSON.parse(String(event.data)) as HostMessage;
    } catch {
      return;
    }
    if (message.isReply) return;
    if (message.type === 'experimental.DataReloaded') reload();
    port.postMessage(JSON.stringify({ type: message.type, id: message.id, payload: null, error: null, isReply: true }));
  };
  window.parent.postMessage('experimental.bootstrap', '*', [channel.port2]);
}
