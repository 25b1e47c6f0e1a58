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

  index(key: GraphKey): Promise<GraphIndex> {
    return this.behind.index(key);
  }

  section(key: GraphKey, name: string, version: string, signal?: AbortSignal): Promise<Uint8Array> {
    const own = this.overrides;
    if (own && own.version === version && own.key.run === key.run && own.key.step === key.step && own.key.rank === key.rank) {
      const found = own.sections.get(name);
      if (found) return Promise.resolve(found);
    }
    return this.behind.section(key, name, version, signal);
  }

  request<T>(route: string, parameters: Record<string, string | number>, body?: unknown): Promise<T> {
    return this.behind.request<T>(route, parameters, body);
  }
}
