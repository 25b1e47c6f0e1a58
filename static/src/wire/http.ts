/** Source over the plugin's HTTP API. All URLs are relative to the page, so any prefix or proxy in front of it is kept. */
import type { GraphKey } from '../core/types';
import { SourceError, type GraphIndex, type LocalText, type RunList, type Source } from './source';

const UNREACHABLE: LocalText = {
  en: 'The server does not answer. Is TensorBoard still running?',
  zh: '服务器没有响应。TensorBoard 是否仍在运行？',
};

const FOREIGN: LocalText = {
  en: 'Something else than the plugin answered, such as a login page or a proxy. Reload the page.',
  zh: '应答的不是本插件，可能是登录页或代理。请刷新页面。',
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

/** What `read` makes of the body of an answer of that type; a connection may break behind its first bytes. */
async function bodyOf<T>(response: Response, type: string, read: () => Promise<T>): Promise<T> {
  if (!response.headers.get('Content-Type')?.includes(type)) throw new SourceError(FOREIGN, 'unreachable');
  try {
    return await read();
  } catch (problem) {
    if (problem instanceof DOMException && problem.name === 'AbortError') throw problem;
    throw new SourceError(UNREACHABLE, 'unreachable');
  }
}

/** `complete`: whether it has what it is asked for; others answer in JSON too. */
async function jsonOf<T extends object>(response: Response, complete: (answer: Partial<T>) => boolean = () => true): Promise<T> {
  const answer = await bodyOf<unknown>(response, 'json', () => response.json());
  if (typeof answer !== 'object' || answer === null || !complete(answer)) throw new SourceError(FOREIGN, 'unreachable');
  return answer as T;
}

function keyParameters(key: GraphKey): Record<string, string | number> {
  return { run: key.run, step: key.step, rank: key.rank };
}

/** One graph as a page to save, opened with the fields `view` of an address. */
export async function exportedPage(key: GraphKey, view: string): Promise<Blob> {
  const response = await ask('export', { ...keyParameters(key), view });
  return bodyOf(response, 'html', () => response.blob());
}

export class HttpSource implements Source {
  async runs(): Promise<RunList> {
    return jsonOf<RunList>(await ask('runs', {}), (answer) => Array.isArray(answer.runs));
  }

  async index(key: GraphKey): Promise<GraphIndex> {
    return jsonOf<GraphIndex>(await ask('graph', keyParameters(key)), (answer) => typeof answer.version === 'string' && Array.isArray(answer.sections));
  }

  async section(key: GraphKey, name: string, version: string, signal?: AbortSignal): Promise<Uint8Array> {
    const response = await ask('section', { ...keyParameters(key), name, v: version }, signal ? { signal } : undefined);
    return new Uint8Array(await bodyOf(response, 'protobuf', () => response.arrayBuffer()));
  }

  async request<T>(route: string, parameters: Record<string, string | number>, body?: unknown): Promise<T> {
    const init = body === undefined ? undefined : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    return (await jsonOf<object>(await ask(route, parameters, init))) as T;
  }
}
