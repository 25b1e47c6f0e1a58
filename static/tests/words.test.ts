import { describe, expect, it } from 'vitest';
import { formatCount, formatError, formatFactor, formatStatistic } from '../src/core/format';
import { localName, Names, nodeName, parseHead, shortName, shortenMiddle, shortTrail } from '../src/core/names';
import { toMarkdown, toText, toTsv } from '../src/core/table_text';
import { dictionaries, fill } from '../src/i18n';
import { formatHash, parseHash, type Address } from '../src/state/url';
import { graphOf, outline } from './graphs';

describe('labels of nodes', () => {
  const graph = graphOf(
    outline('Module.0.decoder.TransformerBlock.forward.0\n  Module.0.decoder.layers.3.TransformerLayer.forward.0\n    Module.0.decoder.layers.3.mlp.MLP.forward.0\n      Functional.linear.90.forward\n      Tensor.__add__.7.forward\n    Module.other.place.X.forward.2\n    Module.0.decoder.layers.3.mlp.MLP.parameters_grad'),
    null,
  );
  const names = new Names(graph);
  const label = (node: number): string => names.label(graph.target, node);

  it('say where a module lies below the one around it', () => {
    expect([1, 2, 3].map(label)).toEqual(['decoder', 'layers.3', 'mlp']);
    expect(names.of(graph.target, 2).type).toBe('TransformerLayer');
  });

  it('keep the call number of a call: it is what tells two calls apart', () => {
    expect([4, 5].map(label)).toEqual(['linear.90', '__add__.7']);
  });

  it('fall back to the end of the path where a module lies in a foreign one', () => {
    expect(label(6)).toBe('place');
    expect(label(7)).toBe('parameters_grad');
  });

  it('stand for a name without a letter, but not in a rule', () => {
    const bare = graphOf(outline('Module.model.Net.forward.0\n  Module.model..Linear.forward.0'), null);
    const known = new Names(bare, () => '(no name)');
    expect([known.label(bare.target, 1), known.label(bare.target, 2)]).toEqual(['model', '(no name)']);
    expect(known.ownLabel(bare.target, 2)).toBe('');
    expect(known.trail(bare.target, 2)).toEqual(['model', '(no name)']);
  });

  it('make a trail from the root', () => {
    expect(names.trail(graph.target, 4)).toEqual(['decoder', 'layers.3', 'mlp', 'linear.90']);
    expect(shortTrail(names.trail(graph.target, 4), 24)).toBe('layers.3 · … · linear.90');
  });

  it('are made from a full name alone where its node is not at hand', () => {
    expect(shortName('Module.0.decoder.layers.2.input_layernorm.RMSNorm.forward.0')).toBe('layers.2 · input_layernorm');
    expect(shortName('Module.model.layers.12.Qwen2DecoderLayer.forward.3')).toBe('layers.12');
    expect(shortName('Cell.network.embedding.Embedding.forward.0')).toBe('network · embedding');
    expect(shortName('Module.embed.Embedding.forward.0')).toBe('embed');
    expect(shortName('Functional.linear.90.forward')).toBe('Functional.linear.90.forward');
  });

  it('survive names of every kind', () => {
    for (const head of ['', '.', '..', 'forward.', 'Module..forward.', 'Module.forward.', '.forward.', 'x'.repeat(5_000), '<b>.forward.', '𝒳.𝒴.forward.']) {
      for (const kind of [0, 1, 2, 3, 4, 5]) expect(typeof localName(parseHead(head, kind))).toBe('string');
    }
  });

  it('are shortened in the middle, letters of two code units included', () => {
    expect(shortenMiddle('self_attention.linear_qkv', 12)).toBe('self…ear_qkv');
    expect(shortenMiddle('short', 12)).toBe('short');
    expect(Array.from(shortenMiddle('𝒳'.repeat(40), 9))).toHaveLength(9);
    expect(shortenMiddle('abc', 1)).toBe('…');
  });

  it('spell the whole name as the dump does', () => {
    expect(nodeName(graph, graph.target, 4)).toBe('Functional.linear.90.forward');
  });
});

describe('numbers', () => {
  it('puts a comma between the thousands of a count', () => {
    expect([0, 999, 1_000, 97_264, 1_020_929].map(formatCount)).toEqual(['0', '999', '1,000', '97,264', '1,020,929']);
  });

  it('of errors say how large, and nothing when nothing was measured', () => {
    expect([0, 0.041, 1.5, 12, 4_321, 1e7, Infinity, Number.NaN].map(formatError)).toEqual(['0', '4.1e-2', '1.5', '12', '4321', '1.0e7', '∞', '']);
  });

  it('of factors have four digits, more where the factor is close to one', () => {
    expect([1.49999999, -2, 1, 1 / 3, 1.0000213].map(formatFactor)).toEqual(['1.5', '−2', '1', '0.3333', '1.00002']);
  });

  it('of statistics have seven digits and a real minus sign', () => {
    expect([0.0785522, -0.0000123456789, 31.956341234, 123456789.5, 12, -Infinity, Number.NaN, 0].map(formatStatistic)).toEqual(['0.0785522', '−1.23457e-5', '31.95634', '1.23457e8', '12', '−∞', 'NaN', '0']);
  });
});

describe('the table as text', () => {
  const table = { title: 'a ↔ b', head: ['tensor', 'value'], rows: [['in\tput', '1'], ['模型', '| `x` <img src=x>\n2']] };

  it('keeps one line a row whatever a name holds', () => {
    expect(toTsv(table)).toBe('tensor\tvalue\nin put\t1\n模型\t| `x` <img src=x> 2');
    expect(toText(table).split('\n')).toHaveLength(4);
  });

  it('aligns columns also with wide letters', () => {
    expect(toText(table).split('\n').slice(1)).toEqual(['tensor  value', 'in put  1', '模型    | `x` <img src=x> 2']);
  });

  it('escapes what Markdown would read', () => {
    expect(toMarkdown(table)).toContain('\\| \\`x\\` \\<img src=x\\> 2');
    expect(toMarkdown(table).split('\n')).toHaveLength(6);
  });
});

describe('both languages', () => {
  const en: Record<string, string> = dictionaries.en;
  const zh: Record<string, string> = dictionaries.zh;

  it('have the same texts', () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  });

  it('name the same arguments in each text', () => {
    const parameters = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();
    for (const key of Object.keys(en)) expect([key, parameters(zh[key])]).toEqual([key, parameters(en[key])]);
  });

  it('leave no text untranslated but the terms that the field uses in English', () => {
    const same = Object.keys(en).filter((key) => en[key] === zh[key] && /[a-z]{4}/.test(en[key].replace(/\{\w+\}/g, '')) && !/^search\.(placeholder|example\.|micro$)|^heatmap\.token$|^pick\.(step|rank|micro)$/.test(key));
    expect(same).toEqual([]);
  });

  it('leave arguments that are not given as they stand', () => {
    expect(fill('{a} of {b}', { a: 1 })).toBe('1 of {b}');
    expect(fill('{constructor}', {})).toBe('{constructor}');
    expect(fill('{n|call|calls}', {})).toBe('{n|call|calls}');
  });

  it('have a word for one and a word for many', () => {
    const texts = ['0', '1', '2', '1,000'].map((n) => fill('{n} {n|call differs|calls differ}', { n }));
    expect(texts).toEqual(['0 calls differ', '1 call differs', '2 calls differ', '1,000 calls differ']);
  });
});

describe('the address', () => {
  const full: Address = {
    key: { run: 'a b/compare_1', step: 2, rank: 3 },
    node: { side: 'golden', name: 'Module.<x>&y=1#.forward.0' },
    microStep: 1,
    colour: 'status',
    threshold: 0.001,
    policy: 'bf16',
    hideExpected: true,
    panel: 'search',
    query: 'layers.1? error>0.01',
  };

  it('comes back as it went', () => {
    expect(parseHash(`tb_graph_ascend&${formatHash(full)}`)).toEqual(full);
  });

  it('is short: what is as usual is left out', () => {
    const plain: Address = { key: { run: 'r', step: 0, rank: 0 }, node: null, microStep: -1, colour: 'cause', threshold: 0, policy: null, hideExpected: false, panel: 'findings', query: '' };
    expect(formatHash(plain)).toBe('p.tb_graph_ascend.run=r');
  });

  it('takes nothing from a broken or foreign hash', () => {
    for (const hash of ['', 'scalars', 'p.other.run=x', 'p.tb_graph_ascend.run=%E0%A4%A', 'p.tb_graph_ascend.step=1e9&p.tb_graph_ascend.colour=evil']) {
      const address = parseHash(hash);
      expect(address.key).toBeNull();
      expect(address.colour).toBeNull();
    }
  });
});
