import { describe, expect, it } from 'vitest';
import { formatHash, parseHash } from '../src/state/url';

const address = (fields: string) => parseHash(fields.split('&').map((field) => `p.tb_graph_ascend.${field}`).join('&'));

describe('an address', () => {
  it('names the node to open at', () => {
    expect(address('run=a&side=golden&node=Module.a').node).toEqual({ side: 'golden', name: 'Module.a' });
  });

  it('with an empty node names none', () => {
    expect(address('run=a&node=').node).toBe(null);
    expect(address('run=a&side=golden&node').node).toBe(null);
  });

  it('with a step or rank that is no number names none that a run could have', () => {
    expect(address('run=a&step=abc&rank=1x').key).toEqual({ run: 'a', step: -1, rank: -1 });
    expect(address('run=a&step=&rank=2').key).toEqual({ run: 'a', step: 0, rank: 2 });
  });

  it('names no panel that there is none of', () => {
    expect(address('run=a&panel=mapping').panel).toBe('mapping');
    expect(address('run=a&panel=nonsense').panel).toBe(null);
  });

  it('takes half a character, which has no escape, for one that cannot be read', () => {
    const hash = formatHash({ ...address('run=a'), query: 'x\ud800y \u{1f600}' });
    expect(parseHash(hash).query).toBe('x\ufffdy \u{1f600}');
  });
});
