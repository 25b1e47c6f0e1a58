/** A source in front of another one: sections that a re-match made take the place of those of the graph file. */
import type { GraphKey } from '../core/types';
import type { GraphIndex, RunList, Source } from './source';

interface Overrides {
  readonly key: GraphKey;
  readonly version: string;
  readonly sections: ReadonlyMap<string, Uint8Array>;
}

export class OverlaySource implements Source {
  private overrides: Overrides | null = null;

  constructor(private readonly behind: Source) {}

  /** From now on these sections are answered from memory; null = everything comes from behind again. */
  put(overrides: Overrides | null): void {
    this.overrides = overrides;
  }

  runs(): Promise<RunList> {
    return this.behind.runs();
  }

  async index(key: GraphKey): Promise<GraphIndex> {
    const index = await this.behind.index(key);
    const own = this.of(key, index.version);
    if (!own) return index;
    const known = new Set(index.sections.map((entry) => entry.name));
    const added = [...own.sections].filter(([name]) => !known.has(name)).map(([name, bytes]) => ({ name, stored_length: bytes.length, raw_length: bytes.length }));
    return { ...index, sections: [...index.sections, ...added] };
  }

  private of(key: GraphKey, version: string): Overrides | null {
    const own = this.overrides;
    return own && own.version === version && own.key.run === key.run && own.key.step === key.step && own.key.rank === key.rank ? own : null;
  }

  section(key: GraphKey, name: string, version: string, signal?: AbortSignal): Promise<Uint8Array> {
    const found = this.of(key, version)?.sections.get(name);
    if (found) return Promise.resolve(found);
    return this.behind.section(key, name, version, signal);
  }

  request<T>(route: string, parameters: Record<string, string | number>, body?: unknown): Promise<T> {
    return this.behind.request<T>(route, parameters, body);
  }
}
