/** Asking for the graph before the viewer is there (wire/opening.ts). */
import { describe, expect, it } from 'vitest';
import type { GraphKey } from '../src/core/types';
import { AskedAhead, openingSections } from '../src/wire/opening';
import type { GraphIndex, RunList, SectionEntry, Source } from '../src/wire/source';

const entry = (name: string): SectionEntry => ({ name, stored_length: 1, raw_length: 1 });
const INDEX: GraphIndex = { version: 'v1', major: 1, tool: '', sections: ['summary', 'topology/target', 'strings', 'comparisons/0'].map(entry) };
const RUNS: RunList = {
  runs: [{ run: 'a', kind: 'compare', graphs: [{ step: 0, rank: 0, file: '', error: { en: 'damaged', zh: '' } }, { step: 0, rank: 1, file: '' }] }],
  scanning: false,
  logdir_empty: false,
  writable: false,
  host: '',
};
const FIRST: GraphKey = { run: 'a', step: 0, rank: 1 };

/** Writes down what it is asked; `failing` routes answer with an error. */
class Recorded implements Source {
  readonly asked: string[] = [];

  constructor(
    private readonly list: RunList | Promise<RunList> = RUNS,
    private readonly failing = '',
  ) {}

  private async answer<T>(what: string, value: T | Promise<T>): Promise<T> {
    this.asked.push(what);
    if (this.failing !== '' && what.startsWith(this.failing)) throw new Error(`no ${what}`);
    return value;
  }

  runs(): Promise<RunList> {
    return this.answer('runs', this.list);
  }

  index(key: GraphKey): Promise<GraphIndex> {
    return this.answer(`index ${key.run}/${key.step}/${key.rank}`, INDEX);
  }

  section(key: GraphKey, name: string, version: string): Promise<Uint8Array> {
    return this.answer(`section ${key.run} ${name} ${version}`, new Uint8Array([name.length]));
  }

  request<T>(route: string): Promise<T> {
    return this.answer(`request ${route}`, undefined as T);
  }
}

describe('asking ahead', () => {
  it('asks for the first readable graph of the list, and for the sections that it opens with', async () => {
    const from = new Recorded();
    await new AskedAhead(from).ask(null);
    expect(from.asked).toEqual(['runs', 'index a/0/1', 'section a summary v1', 'section a strings v1', 'section a topology/target v1']);
  });

  it("asks for an address's graph without waiting for the list of runs", async () => {
    const from = new Recorded(new Promise<RunList>(() => undefined));
    await new AskedAhead(from).ask({ run: 'b', step: 2, rank: 3 });
    expect(from.asked.slice(0, 3)).toEqual(['runs', 'index b/2/3', 'section b summary v1']);
  });

  it('asks for the list alone where no graph can be read', async () => {
    const from = new Recorded({ ...RUNS, runs: [] });
    await new AskedAhead(from).ask(null);
    expect(from.asked).toEqual(['runs']);
  });

  it('gives every answer away once: who asks again gets what the server says then', async () => {
    const from = new Recorded();
    const source = new AskedAhead(from);
    await source.ask(null);
    const before = from.asked.length;
    expect(await source.runs()).toBe(RUNS);
    expect(await source.index(FIRST)).toBe(INDEX);
    expect(await source.section(FIRST, 'summary', 'v1')).toEqual(new Uint8Array([7]));
    expect(from.asked.length).toBe(before);
    await source.runs();
    await source.index(FIRST);
    await source.section(FIRST, 'summary', 'v1');
    expect(from.asked.slice(before)).toEqual(['runs', 'index a/0/1', 'section a summary v1']);
  });

  it('does not give a section of another version or of another graph', async () => {
    const from = new Recorded();
    const source = new AskedAhead(from);
    await source.ask(null);
    await source.section(FIRST, 'summary', 'v2');
    await source.index({ ...FIRST, rank: 2 });
    expect(from.asked.slice(-2)).toEqual(['section a summary v2', 'index a/0/2']);
  });

  it('keeps nothing of what nobody took once it is told to forget', async () => {
    const from = new Recorded();
    const source = new AskedAhead(from);
    await source.ask(null);
    source.forget();
    await source.index(FIRST);
    expect(from.asked.filter((what) => what === 'index a/0/1')).toHaveLength(2);
  });

  it('keeps nothing of what comes after that either', async () => {
    let answered = (_list: RunList): void => undefined;
    const from = new Recorded(new Promise<RunList>((done) => (answered = done)));
    const source = new AskedAhead(from);
    const asking = source.ask(null);
    source.forget();
    answered(RUNS);
    await asking;
    await source.section(FIRST, 'summary', 'v1');
    expect(from.asked.filter((what) => what === 'section a summary v1')).toHaveLength(2);
  });

  it.each(['runs', 'index', 'section'])('tells whoever takes it that a question failed: %s', async (failing) => {
    const source = new AskedAhead(new Recorded(RUNS, failing));
    await source.ask(null);
    const taken = failing === 'runs' ? source.runs() : failing === 'index' ? source.index(FIRST) : source.section(FIRST, 'strings', 'v1');
    await expect(taken).rejects.toThrow(`no ${failing}`);
  });
});

describe('sections that a graph opens with', () => {
  it('are those of them that the file has', () => {
    expect(openingSections(INDEX).map(({ part, entry: { name } }) => [part, name])).toEqual([
      ['summary', 'summary'],
      ['strings', 'strings'],
      ['target', 'topology/target'],
    ]);
  });
});
