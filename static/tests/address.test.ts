import { describe, expect, it } from 'vitest';
import { parseHash } from '../src/state/url';

const address = (fields: string) => parseHash(fields.split('&').map((field) => `p.tb_graph_ascend.${field}`).join('&'));

describe('an address', () => {
  it('names the node to open at', () => {
    expect(address('run=a&side=golden&node=Module.a').node).toEqual({ side: 'golden', name: 'Module.a' });
  });

  it('with an empty node names none', () => {
    expect(address('run=a&node=').node).toBe(null);
    expect(address('run=a&side=golden&node').node).toBe(null);
  });
});
