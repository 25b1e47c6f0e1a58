import { beforeEach, describe, expect, it } from 'vitest';
import { historyOf, marksOf, NO_MARKS, withMatches, withTriage, type Marks, type MatchEntry, type TriageEntry } from '../src/core/marks';
import { chosen, runs, source } from '../src/state/app';
import { change, history, lastAdded, lastTaken, marks, redo, undo } from '../src/state/marks';
import { alsoFor, alsoTakeBack, takeBackPlaces } from '../src/state/other_graphs';
import { SourceError, type RunGraph, type Source } from '../src/wire/source';

const match = (target: string, golden: string, author = 'me'): MatchEntry => ({ action: 'match', target: [target], golden: [golden], relation: 'same', author, time: '2026-01-01T00:00:00Z' });
const mark = (nodes: string, author = 'me'): TriageEntry => ({ nodes, side: 'target', verdict: 'expected', author, time: '2026-01-01T00:00:00Z' });

/** A server with the files of ranks 1 and 2; rank 0 is open. */
let files: Map<number, Marks>;
let refusing = false;
const request = async (_route: string, parameters: { rank?: number }, body?: unknown): Promise<unknown> => {
  const posted = body as (Marks & { rank: number; revision: string }) | undefined;
  const rank = posted?.rank ?? parameters.rank ?? 0;
  const revision = JSON.stringify(files.get(rank) ?? NO_MARKS);
  if (posted) {
    if (refusing && rank === 1) throw new SourceError({ en: 'no', zh: '' }, 'read_only');
    expect(posted.revision).toBe(revision);
    files.set(rank, marksOf(posted));
  }
  return { ...(files.get(rank) ?? NO_MARKS), revision, writable: true };
};

beforeEach(() => {
  files = new Map();
  refusing = false;
  const graphs = [0, 1, 2].map((rank) => ({ step: 0, rank, file: '' }) as RunGraph);
  source.value = { request } as unknown as Source;
  runs.value = { runs: [{ run: 'a', kind: 'compare', graphs }], scanning: false, logdir_empty: false, writable: true, host: '' };
  chosen.value = { run: 'a', step: 0, rank: 0 };
  history.value = historyOf(NO_MARKS);
  lastAdded.value = [];
  lastTaken.value = [];
});

describe('undo of what was noted for all ranks', () => {
  it('reaches the other ranks, and what somebody else wrote there since stays', async () => {
    change(withMatches(marks.value, [match('a', 'b')]));
    expect(await alsoFor('ranks')).toEqual({ done: 2, problem: null });
    files.set(1, withMatches(files.get(1) ?? NO_MARKS, [match('x', 'y', 'she')]));
    undo();
    expect(takeBackPlaces.value.map(({ key }) => key.rank)).toEqual([1, 2]);
    expect(await alsoTakeBack()).toEqual({ done: 2, problem: null });
    expect(files.get(1)).toEqual({ ...NO_MARKS, matches: [match('x', 'y', 'she')] });
    expect(files.get(2)).toEqual(NO_MARKS);
    expect(takeBackPlaces.value).toEqual([]);
  });

  it('brings back what had stood in its place there', async () => {
    files.set(2, withTriage(NO_MARKS, mark('n', 'she')));
    change(withTriage(marks.value, { ...mark('n'), verdict: 'ignored' }));
    await alsoFor('ranks');
    expect(files.get(2)?.triage).toEqual([{ ...mark('n'), verdict: 'ignored' }]);
    undo();
    await alsoTakeBack();
    expect(files.get(2)?.triage).toEqual([mark('n', 'she')]);
    expect(files.get(1)?.triage).toEqual([]);
  });

  it('leaves an entry alone that somebody else has changed there', async () => {
    change(withTriage(marks.value, mark('n')));
    await alsoFor('ranks');
    files.set(1, withTriage(NO_MARKS, { ...mark('n', 'she'), note: 'known' }));
    undo();
    await alsoTakeBack();
    expect(files.get(1)?.triage).toEqual([{ ...mark('n', 'she'), note: 'known' }]);
  });

  it('is offered for a mapping, and for an entry that is removed by its button', async () => {
    change({ ...marks.value, mapping: { name: 'm', text: 'A: {}' } });
    await alsoFor('ranks');
    change({ ...marks.value, mapping: null });
    expect(takeBackPlaces.value).toHaveLength(2);
    await alsoTakeBack();
    expect(files.get(1)?.mapping).toBe(null);
  });

  it('is not offered for what was noted here alone, nor where an entry only takes the place of another', async () => {
    change(withMatches(marks.value, [match('a', 'b')]));
    undo();
    expect(takeBackPlaces.value).toEqual([]);
    change(withMatches(marks.value, [match('a', 'b')]));
    await alsoFor('ranks');
    change(withMatches(marks.value, [{ ...match('a', 'b'), action: 'unmatch' }]));
    expect(takeBackPlaces.value).toEqual([]);
  });

  it('can be tried again where one rank could not be written, and redone for all of them', async () => {
    change(withMatches(marks.value, [match('a', 'b')]));
    await alsoFor('ranks');
    undo();
    refusing = true;
    expect(await alsoTakeBack()).toMatchObject({ done: 1, problem: { en: 'no' } });
    refusing = false;
    expect(await alsoTakeBack()).toEqual({ done: 2, problem: null });
    redo();
    expect(await alsoFor('ranks')).toEqual({ done: 2, problem: null });
    expect(files.get(1)?.matches).toEqual([match('a', 'b')]);
  });
});
