/** Source over the plugin's HTTP API. All URLs are relative to the page, so any prefix or proxy in front of it is kept. */
import type { GraphKey } from '../core/types';
import { SourceError, type GraphIndex, type LocalText, type RunList, type Source } from './source';

const UNREACHABLE: LocalText = {
  en: 'The server does not answer. Is TensorBoard still running?',
  zh: '服务器没有响应。TensorBoard 是否仍在运行？',
};

function address(route: string, parameters: Record<string, string | number>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
  const text = query.toString();
  return `./${route}${text ? `?${text}` : ''}`;
}

/** The server's own sentence where it gave one. */
async function failure(response: Response): Promise<SourceError> {
  let text: LocalText = {
    en: `The server answered ${response.status} ${response.statusText}.`,
    zh: `服务器返回 ${response.status} ${response.statusText}。`,
  };
  let code = String(response.status);
  try {
    const body: unknown = await response.json();
    const error = (body as { error?: { en?: unknown; zh?: unknown; code?: unknown; said?: LocalText['said'] } }).error;
    if (error && typeof error.en === 'string') {
      text = { en: error.en, zh: typeof error.zh === 'string' ? error.zh : error.en, said: error.said };
      if (typeof error.code === 'string') code = error.code;
    }
  } catch {
    // Not JSON: a proxy answered, the status line must do.
  }
  return new SourceError(text, code);
}

async function ask(route: string, parameters: Record<string, string | number>, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address(route, parameters), { credentials: 'same-origin', ...init });
  } catch (problem) {
    if (problem instanceof DOMException && problem.name === 'AbortError') throw problem;
    throw new SourceError(UNREACHABLE, 'unreachable');
  }
  if (!response.ok) throw await failure(response);
  return response;
}

/** The body of an answer; a connection may break behind its first bytes. */
async function jsonOf<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch {
    throw new SourceError(UNREACHABLE, 'unreachable');
  }
}

function keyParameters(key: GraphKey): Record<string, string | number> {
  return { run: key.run, step: key.step, rank: key.rank };
}

export class HttpSource implements Source {
  async runs(): Promise<RunList> {
    return jsonOf(await ask('runs', {}));
  }

  async index(key: GraphKey): Promise<GraphIndex> {
    return jsonOf(await ask('graph', keyParameters(key)));
  }

  async section(key: GraphKey, name: string, version: string, signal?: AbortSignal): Promise<Uint8Array> {
    const response = await ask('section', { ...keyParameters(key), name, v: version }, signal ? { signal } : undefined);
    return new Uint8Array(await response.arrayBuffer());
  }

  async request<T>(route: string, parameters: Record<string, string | number>, body?: unknown): Promise<T> {
    const init = body === undefined ? undefined : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    return jsonOf(await ask(route, parameters, init));
  }
}
