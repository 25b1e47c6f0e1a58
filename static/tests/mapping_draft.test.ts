import { beforeEach, describe, expect, it } from 'vitest';
import { source } from '../src/state/app';
import { draft, draftProblem, edit, look, shownRules } from '../src/state/mapping';
import { stored } from '../src/state/rematch';
import { SourceError, type Source } from '../src/wire/source';
import { graphOf, identity, outline } from './graphs';

/** A server that cannot read a text with a tab in it, and finds one rule a line in any other. */
const request = async (_route: string, _parameters: unknown, body?: unknown): Promise<unknown> => {
  const { mapping } = body as { mapping: { text: string } | 'file' };
  const text = mapping === 'file' ? '' : mapping.text;
  if (text.includes('\t')) throw new SourceError({ en: 'mapping.yaml, line 2, column 1: a tab', zh: '' }, 'rematch');
  const rules = text.split('\n').flatMap((line, i) => (line.startsWith(' ') ? [{ scope: 'A', source: line.trim(), target: 'x', line: i + 1, hits: 1 }] : []));
  return { rules, messages: [], counts: {}, new: [], gone: [], left: {} };
};

async function tried(text: string): Promise<void> {
  edit(text);
  await look();
}

describe('the rules of a draft of the mapping', () => {
  beforeEach(async () => {
    source.value = { request } as unknown as Source;
    stored.value = graphOf(outline('Module.a.A.forward.0'), outline('Module.a.A.forward.0'), identity(1));
    await tried('');
  });

  it('are its own where it could be tried', async () => {
    await tried('A:\n  b: c\n');
    expect(shownRules.value).toMatchObject({ of: 'draft', text: draft.value, rules: [{ source: 'b: c' }] });
  });

  it('stay those of the last one that could be tried while it is refused, and say so', async () => {
    await tried('A:\n  b: c\n');
    await tried('A:\n\tb: c\n  d: e');
    expect(shownRules.value).toMatchObject({ of: 'lastTried', text: 'A:\n  b: c\n', rules: [{ source: 'b: c' }] });
    expect(draftProblem.value?.en).toContain('line 2');
    await tried('A:\n  b: c\n  d: e\n');
    expect(shownRules.value.of).toBe('draft');
    expect(shownRules.value.rules).toHaveLength(2);
  });

  it('are those of the mapping in force where no draft could be tried', async () => {
    await tried('A:\n\tb');
    expect(shownRules.value.of).toBe('inForce');
  });
});
