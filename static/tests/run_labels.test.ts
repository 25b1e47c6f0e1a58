import { describe, expect, it } from 'vitest';
import { firstReadable, insteadOf, runLabels, type NamedRun } from '../src/core/run_labels';

const run = (name: string, created = ''): NamedRun => ({ run: name, kind: name.includes('build_') ? 'build' : 'compare', created });

describe('names of runs', () => {
  it('are the directory that a person named, and the time', () => {
    expect(runLabels([run('qkv_bias/compare_20261129223551')])).toEqual([
      { run: 'qkv_bias/compare_20261129223551', name: 'qkv_bias', time: '2026-11-29 22:35:51', shortTime: '11-29 22:35', dumps: '' },
    ]);
  });

  it('take the time that a run without one in its name says of itself', () => {
    expect(runLabels([run('nightly', '2026-11-29T12:00:00Z'), run('old')]).map((label) => [label.name, label.time])).toEqual([
      ['nightly', '2026-11-29 12:00:00'],
      ['old', ''],
    ]);
  });

  it('come newest first, those of unknown time last', () => {
    const names = ['a/compare_20250101000000', 'copied', 'b/compare_20261231000000', 'a/compare_20260101000000'];
    expect(runLabels(names.map((name) => run(name))).map((label) => label.run)).toEqual([names[2], names[3], names[0], names[1]]);
  });

  it('hold what somebody put behind, and the kind where nothing else is there', () => {
    expect(runLabels([run('compare_20261129223551_2'), run('build_20261129223552'), run('.')]).map((label) => label.name)).toEqual(['build', 'compare 2', 'compare']);
  });
});

describe('the dumps of a run', () => {
  const dumped = (name: string): NamedRun => ({ ...run(name), dumps: 'pairs/megatron ↔ hf' });

  it('are its name where nobody named the directory, and stand behind the name otherwise', () => {
    const [unnamed, named] = [runLabels([dumped('compare_20261129223551')])[0], runLabels([dumped('qkv/compare_20261129223551')])[0]];
    expect([unnamed.name, unnamed.dumps]).toEqual(['pairs/megatron ↔ hf', '']);
    expect([named.name, named.dumps]).toEqual(['qkv', 'pairs/megatron ↔ hf']);
  });
});

describe('short times', () => {
  const short = (...names: string[]): string[] => runLabels(names.map((name) => run(name))).map((label) => label.shortTime);

  it('have seconds where two of one name were made in one minute', () => {
    expect(short('a/compare_20261129223551', 'a/compare_20261129223552', 'b/compare_20261129223553')).toEqual(['11-29 22:35', '11-29 22:35:52', '11-29 22:35:51']);
  });

  it('have the year where runs of one name are of several', () => {
    expect(short('a/compare_20261129223551', 'a/compare_20251129223551')).toEqual(['2026-11-29 22:35', '2025-11-29 22:35']);
  });
});

it('two runs never look alike', () => {
  const labels = runLabels(['x/compare_20261129223551', 'x/build_20261129223551', 'x/compare_20261129223551-a', 'x a/compare_20261129223551'].map((name) => run(name)));
  expect(new Set(labels.map((label) => `${label.name} ${label.shortTime}`)).size).toBe(4);
});

describe('the graph that opens where nobody chose', () => {
  const graphs = (...ranks: readonly number[]) => ranks.map((rank) => ({ step: 0, rank, error: rank < 0 ? { en: 'damaged' } : null }));

  it('is the first readable one of the newest run that has any', () => {
    const runs = [
      { ...run('a/compare_20250101000000'), graphs: graphs(0) },
      { ...run('b/compare_20261231000000'), graphs: graphs(-1) },
      { ...run('c/compare_20260101000000'), graphs: graphs(-1, 3, 4) },
    ];
    expect(firstReadable(runs)).toEqual({ run: 'c/compare_20260101000000', step: 0, rank: 3 });
  });

  it('is none where no graph file can be read', () => {
    expect(firstReadable([])).toBe(null);
    expect(firstReadable([{ ...run('a'), graphs: graphs(-1) }])).toBe(null);
  });
});

describe('a step or rank that a run does not have', () => {
  const graphs = [
    { step: 0, rank: 0, error: { en: 'damaged', zh: '已损坏' } },
    { step: 0, rank: 1 },
    { step: 5, rank: 0 },
    { step: 5, rank: 3 },
  ];
  const runs = [{ ...run('a/compare_20260101000000'), graphs }, { ...run('empty'), graphs: [] }];
  const at = (step: number, rank: number) => {
    const found = insteadOf({ run: runs[0].run, step, rank }, runs);
    return found && [found.step, found.rank];
  };

  it('gives way to one of the same step, else of the same rank, else to the first that can be read', () => {
    expect(at(5, 99)).toEqual([5, 0]);
    expect(at(999, 3)).toEqual([5, 3]);
    expect(at(999, 99)).toEqual([0, 1]);
  });

  it('gives way to nothing where the run has it, has no graphs, or is not there', () => {
    expect(at(0, 0)).toBe(null);
    expect(insteadOf({ run: 'empty', step: 1, rank: 0 }, runs)).toBe(null);
    expect(insteadOf({ run: 'gone', step: 0, rank: 0 }, runs)).toBe(null);
  });
});
