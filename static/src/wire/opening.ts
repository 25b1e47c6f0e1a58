/** The sections that a graph is opened with; and asking for them while the viewer's own script is still on its way. */
import { firstReadable } from '../core/run_labels';
import type { GraphKey } from '../core/types';
import type { GraphIndex, RunList, SectionEntry, Source } from './source';

export interface GraphSections {
  readonly summary: Uint8Array;
  readonly strings: Uint8Array;
  readonly target: Uint8Array;
  readonly golden?: Uint8Array | undefined;
  readonly pairs?: Uint8Array | undefined;
  readonly verdicts?: Uint8Array | undefined;
}

const NAMES: Readonly<Record<keyof GraphSections, string>> = {
  summary: 'summary',
  strings: 'strings',
  target: 'topology/target',
  golden: 'topology/golden',
  pairs: 'pairs',
  verdicts: 'verdicts',
};

/** Those of them that the file has. */
export function openingSections(index: GraphIndex): { readonly part: string; readonly entry: SectionEntry }[] {
  return Object.entries(NAMES).flatMap(([part, name]) => {
    const entry = index.sections.find((item) => item.name === name);
    return entry ? [{ part, entry }] : [];
  });
}

/**
 * A source that has asked before it is asked: three requests come one behind the other until a graph is there, and they
 * need nothing of the script that shows it. Every answer is given away once; the next question goes to the source itself.
 */
export class AskedAhead implements Source {
  private readonly answers = new Map<string, Promise<unknown>>();
  private keeping = true;

  constructor(private readonly from: Source) {}

  /** Asks for the list of runs and for the graph that will be opened: the address's, else the first one. */
  async ask(addressed: GraphKey | null): Promise<void> {
    try {
      const list = this.keep('runs', this.from.runs());
      const key = addressed ?? firstReadable((await list).runs);
      if (!key) return;
      const index = await this.keep(named('index', key), this.from.index(key));
      for (const { entry } of openingSections(index)) void this.keep(named('section', key, entry.name, index.version), this.from.section(key, entry.name, index.version));
    } catch {
      // Whoever takes the answer is told.
    }
  }

  /** What nobody took by now is not kept: the file may be another one by the time that somebody asks. */
  forget(): void {
    this.keeping = false;
    this.answers.clear();
  }

  runs(): Promise<RunList> {
    return this.take('runs') ?? this.from.runs();
  }

  index(key: GraphKey): Promise<GraphIndex> {
    return this.take(named('index', key)) ?? this.from.index(key);
  }

  section(key: GraphKey, name: string, version: string, signal?: AbortSignal): Promise<Uint8Array> {
    return this.take(named('section', key, name, version)) ?? this.from.section(key, name, version, signal);
  }

  request<T>(route: string, parameters: Record<string, string | number>, body?: unknown): Promise<T> {
    return this.from.request(route, parameters, body);
  }

  private keep<T>(name: string, answer: Promise<T>): Promise<T> {
    answer.catch(() => undefined); // it may fail before anybody takes it
    if (this.keeping) this.answers.set(name, answer);
    return answer;
  }

  private take<T>(name: string): Promise<T> | undefined {
    const answer = this.answers.get(name) as Promise<T> | undefined;
    this.answers.delete(name);
    return answer;
  }
}

function named(what: string, key: GraphKey, ...more: string[]): string {
  return JSON.stringify([what, key.run, key.step, key.rank, ...more]);
}
