import { afterEach, describe, expect, it, vi } from 'vitest';
import { foreignChanges, historyOf, changed, marksOf, NO_MARKS, rebased, undone, type Marks } from '../src/core/marks';
import { isAbout } from '../src/state/browser_copy';
import { MatchesFile, type Kept } from '../src/state/matches_file';
import { SourceError, type Source } from '../src/wire/source';

const KEY = { run: 'a', step: 0, rank: 0 };
const mark = (...nodes: string[]): Marks => ({ ...NO_MARKS, triage: nodes.map((name) => ({ nodes: name, side: 'target', verdict: 'expected' })) });
const nodes = (marks: Marks): string[] => marks.triage.map((entry) => entry.nodes);
const problem = (code: string): SourceError => new SourceError({ en: code, zh: code }, code);

/** A server with one file, slow enough for something to happen meanwhile. */
function server(first: Marks = NO_MARKS) {
  let revision = 1;
  const state = { file: first, failing: [] as string[], lost: [] as string[], posts: 0, writable: true };
  const request = async (_route: string, _parameters: unknown, body?: unknown): Promise<unknown> => {
    await new Promise((done) => setTimeout(done, 5));
    const code = state.failing.shift();
    if (code) throw problem(code);
    if (body !== undefined) {
      state.posts++;
      if ((body as { revision: string }).revision !== String(revision)) throw problem('matches_changed');
      state.file = marksOf(body as Marks);
      revision++;
      const cut = state.lost.shift();
      if (cut) throw problem(cut);
    }
    return { ...state.file, revision: String(revision), writable: state.writable };
  };
  const other = (now: Marks): void => {
    state.file = now;
    revision++;
  };
  return { state, other, source: { request } as unknown as Source };
}

function open(source: Source) {
  const seen = { kept: 'unknown' as Kept, problems: [] as unknown[] };
  const foreign: string[] = [];
  const file = new MatchesFile(source, KEY, {
    kept: (where) => (seen.kept = where),
    saving: () => undefined,
    failed: (why) => (seen.problems = why === null ? [] : [why]),
    joined: (base, theirs) => void foreign.push(...foreignChanges(base, theirs).map((entry) => ('nodes' in entry ? entry.nodes : '?'))),
  });
  return { file, seen, foreign };
}

function browser(): Map<string, string> {
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', { getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, text: string) => kept.set(name, text), removeItem: (name: string) => kept.delete(name) });
  return kept;
}

const rest = (milliseconds = 200): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A tab that has heard that another one marked "theirs". */
async function tabThatHears(source: Source): Promise<ReturnType<typeof open>> {
  browser();
  const [one, two] = [open(source), open(source)];
  await Promise.all([one.file.read(), two.file.read()]);
  one.file.keep(mark('theirs'));
  await rest();
  two.file.hear();
  await rest();
  return two;
}

describe('another tab of this browser', () => {
  it('is heard before anything is written here', async () => {
    const { state, source } = server();
    const two = await tabThatHears(source);
    expect(two.foreign).toEqual(['theirs']);
    expect(state.posts).toBe(1);
    two.file.keep(mark('theirs', 'mine'));
    await rest();
    expect(nodes(state.file)).toEqual(['theirs', 'mine']);
    expect(two.foreign).toEqual(['theirs']);
  });

  it('is heard where nothing can be written but the browser keeps it', async () => {
    const { state, source } = server();
    state.writable = false;
    const two = await tabThatHears(source);
    expect(two.foreign).toEqual(['theirs']);
    two.file.hear();
    await rest();
    expect(two.foreign).toEqual(['theirs']);
  });

  it('tells of the graph that it has written, and of no other', async () => {
    const { source } = server();
    const kept = browser();
    const told: [string, string][] = [];
    kept.set = (name, text) => (told.push([name, text]), kept);
    const { file } = open(source);
    await file.read();
    file.keep(mark('a'));
    await rest();
    expect(told.length).toBe(1);
    const [[name, text]] = told;
    const short = name.replace('tb_graph_ascend.', '');
    expect(isAbout(KEY, short, text)).toBe(true);
    expect(isAbout({ ...KEY, rank: 1 }, short, text)).toBe(false);
    expect(isAbout({ ...KEY, run: 'a|0' }, short, text)).toBe(false);
    expect(isAbout(KEY, 'theme', 'dark')).toBe(false);
  });
});

describe('the file of matches', () => {
  it('keeps what somebody else wrote while several own changes were on their way', async () => {
    const { state, other, source } = server();
    const { file, seen } = open(source);
    await file.read();
    other(mark('theirs'));
    file.keep(mark('a'));
    file.keep(mark('a', 'b'));
    file.keep(mark('a', 'b', 'c'));
    await rest();
    expect(nodes(state.file)).toEqual(['theirs', 'a', 'b', 'c']);
    expect(seen).toEqual({ kept: 'file', problems: [] });
  });

  it('writes later changes although an earlier one failed, also where it failed while two were joined', async () => {
    const { state, other, source } = server();
    const { file, seen } = open(source);
    await file.read();
    other(mark('theirs'));
    state.failing = ['matches_changed', 'internal'];
    file.keep(mark('a'));
    await rest();
    expect(seen.kept).toBe('waiting');
    expect(seen.problems).toHaveLength(1);
    file.keep(mark('a', 'b'));
    await rest();
    expect(nodes(state.file)).toEqual(['theirs', 'a', 'b']);
    expect(seen).toEqual({ kept: 'file', problems: [] });
  });

  it('does not lose what was changed before it was read', async () => {
    const { state, source } = server(mark('there'));
    const { file } = open(source);
    const reading = file.read();
    file.keep(mark('early'));
    expect(nodes(await reading)).toEqual(['there']);
    await rest();
    expect(nodes(state.file)).toEqual(['there', 'early']);
  });

  it('gets what waited in the browser for a server that had stopped, also what was taken out, after a reload', async () => {
    const kept = browser();
    const { state, source } = server(mark('old', 'gone'));
    const before = open(source);
    await before.file.read();
    state.failing = ['internal'];
    before.file.keep(mark('old', 'new'));
    await rest();
    expect(before.seen.kept).toBe('waiting');
    const after = open(source);
    expect(nodes(await after.file.read())).toEqual(['old', 'new']);
    await rest();
    expect(nodes(state.file)).toEqual(['old', 'new']);
    expect(kept.size).toBe(0);
  });

  it('is written by itself once somebody else writes less often', async () => {
    const { state, source } = server();
    const { file, seen } = open(source);
    await file.read();
    vi.useFakeTimers();
    state.failing = Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? 'matches_changed' : '')); // five times; what was read in between went well
    file.keep(mark('a'));
    await vi.advanceTimersByTimeAsync(200);
    expect(seen.kept).toBe('waiting');
    await vi.advanceTimersByTimeAsync(6000);
    expect(nodes(state.file)).toEqual(['a']);
    expect(seen).toEqual({ kept: 'file', problems: [] });
  });

  it.each(['unreachable', '502', 'cannot_write'])('is written by itself once the server answers again, or can write (%s)', async (code) => {
    const { state, source } = server();
    const { file, seen } = open(source);
    await file.read();
    vi.useFakeTimers();
    state.failing = [code];
    file.keep(mark('a'));
    await vi.advanceTimersByTimeAsync(100);
    expect(seen.kept).toBe('waiting');
    await vi.advanceTimersByTimeAsync(6000);
    expect(nodes(state.file)).toEqual(['a']);
    expect(seen.kept).toBe('file');
  });

  it.each(['unreachable', '502'])('takes what it wrote itself for its own where the answer was lost (%s)', async (code) => {
    const { state, source } = server(mark('old'));
    const { file, foreign } = open(source);
    await file.read();
    state.lost = [code];
    file.keep(mark('old', 'mine'));
    await rest();
    file.keep(mark('old', 'mine', 'next'));
    await rest();
    expect(nodes(state.file)).toEqual(['old', 'mine', 'next']);
    expect(foreign).toEqual([]);
  });

  it('tells what another wrote on top of an own change whose answer was lost, and that alone', async () => {
    const { state, other, source } = server();
    const { file, foreign } = open(source);
    await file.read();
    state.lost = ['unreachable'];
    file.keep(mark('mine'));
    await rest();
    other(mark('mine', 'theirs'));
    file.keep(mark('mine', 'next'));
    await rest();
    expect(nodes(state.file)).toEqual(['mine', 'theirs', 'next']);
    expect(foreign).toEqual(['theirs']);
  });

  it('takes back a change whose answer was lost', async () => {
    const { state, source } = server();
    const { file, foreign } = open(source);
    await file.read();
    state.lost = ['unreachable'];
    file.keep(mark('mine'));
    await rest();
    expect(nodes(state.file)).toEqual(['mine']);
    file.keep(mark());
    await rest();
    expect(nodes(state.file)).toEqual([]);
    expect(foreign).toEqual([]);
  });

  it('does not take an equal entry of somebody else for its own', async () => {
    const { state, other, source } = server();
    const { file, foreign } = open(source);
    await file.read();
    state.failing = ['unreachable'];
    file.keep({ ...NO_MARKS, triage: [{ nodes: 'a', side: 'target', verdict: 'expected', author: 'me', time: '2026-01-01T00:00:00Z' }] });
    await rest();
    other({ ...NO_MARKS, triage: [{ nodes: 'a', side: 'target', verdict: 'expected', author: 'she', time: '2026-01-01T00:00:07Z' }] });
    file.keep({ ...NO_MARKS, triage: [{ nodes: 'b', side: 'target', verdict: 'expected' }] });
    await rest();
    expect(foreign).toEqual(['a']);
  });

  it.each(['gone', 'no_such_run', 'no_such_graph'])('stays in the browser where the run is not there any more (%s)', async (code) => {
    const kept = browser();
    const { state, source } = server();
    const { file, seen } = open(source);
    await file.read();
    state.failing = [code];
    file.keep(mark('a'));
    await rest();
    expect([seen.kept, seen.problems.length, kept.size]).toEqual(['gone', 1, 1]);
    file.keep(mark('a', 'b')); // it has come back
    await rest();
    expect([seen.kept, seen.problems.length, kept.size]).toEqual(['file', 0, 0]);
    expect(nodes(state.file)).toEqual(['a', 'b']);
  });

  it('is left alone where nothing can be written', async () => {
    const kept = browser();
    const { state, source } = server(mark('there'));
    state.writable = false;
    const { file, seen } = open(source);
    await file.read();
    file.keep(mark('there', 'mine'));
    await rest();
    expect([seen.kept, state.posts, kept.size]).toEqual(['browser', 0, 1]);
    expect(nodes(await open(source).file.read())).toEqual(['there', 'mine']);
  });
});

describe('two tabs of one browser where nothing can be written', () => {
  it('keep what each of them changed, and what was taken away stays away', async () => {
    browser();
    const { state, source } = server(mark('there'));
    state.writable = false;
    const [one, two] = [open(source), open(source)];
    await Promise.all([one.file.read(), two.file.read()]);
    one.file.keep(mark('there', 'one'));
    await rest();
    two.file.keep(mark('there', 'two'));
    await rest();
    expect(two.foreign).toEqual(['one']);
    one.file.keep(mark('there'));
    await rest();
    expect(nodes(await open(source).file.read())).toEqual(['there', 'two']);
  });

  it('are told when the browser has no room for it', async () => {
    browser();
    const { state, source } = server();
    state.writable = false;
    const { file, seen } = open(source);
    await file.read();
    vi.stubGlobal('localStorage', { ...localStorage, setItem: () => { throw new DOMException('full', 'QuotaExceededError'); } });
    file.keep(mark('mine'));
    await rest();
    expect([seen.kept, (seen.problems[0] as SourceError).code]).toEqual(['unknown', 'not_kept']);
  });
});

describe('going back after somebody else has written', () => {
  it('takes back the own change, never theirs', () => {
    const own = changed(historyOf(mark('a')), mark('a', 'b'));
    const both = rebased(own, mark('a'), mark('a', 'theirs'));
    expect(nodes(both.now)).toEqual(['a', 'theirs', 'b']);
    expect(nodes(undone(both).now)).toEqual(['a', 'theirs']);
  });
});
