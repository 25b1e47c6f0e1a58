import { describe, expect, it } from 'vitest';
import { mayNeverEnd } from '../src/core/expression_cost';
import { expressionPattern, globPattern } from '../src/core/name_pattern';

/** What people look for in the names of modules and calls. */
const TYPICAL = String.raw`layers\.(\d+)\.(self_attn|mlp)\.\w+
(q|k|v)_proj
.*norm.*\d$
^Module\..*\.(\w+)\.forward\.\d+$
layers\.\d+\.
layers\.(1|2|3)\.
layers\.[0-9]{1,2}\.mlp
layers\.(2[0-9]|3[01])\.
layers\.\d+\.self_attn\.\w+\.\w+\.forward\.\d+
^Module\.\w+\.\w+\.\w+\.\w+\.forward
^Module(\.\w+)+\.forward\.\d+$
^Module(?:\.[^.]+)*\.mlp\.
(?:\w+\.)*mlp\.\w+
(\w+\.)+Linear\.forward
([a-z_]+\.)*attention
(self_attn|self_attention|attn)\.(q|k|v|o|qkv)_proj
(linear_)?(qkv|proj|fc1|fc2)
experts\.\d+\.(gate|up|down)_proj\.Linear\.(forward|backward)\.\d+
.*attn.*proj.*forward.*
.*layers.*attn.*proj.*backward.*\d
decoder.*layers.*self_attention.*linear_qkv.*forward
.*\.(\d+)\.forward\.(\d+)
(forward|backward)\.[0-9]+$
^(?!.*norm).*proj
^(?=.*mlp)(?=.*forward).*$
^(?!.*(norm|embed)).*forward.*\d+$
Functional\.(linear|softmax|layer_norm)\.\d+\.(forward|backward)
^(Tensor|Torch|Functional)\.\w+\.\d+\.
(Tensor\.(__add__|__mul__)|Torch\.(add|mul))\.\d+
NPU\.npu_\w+\.\d+
Distributed\.(all_reduce|all_gather|reduce_scatter)(_base|_tensor)?\.\d+
(?<layer>layers\.\d+)\.(?<sub>\w+)
layers\.(\d)\1\.
[A-Z]\w+Norm\.forward
(RMS|Layer)Norm
(Row|Column)ParallelLinear
((Row|Column)Parallel)?Linear(Layer)?
\bmlp\b
(input|post_attention|pre_mlp)_layernorm
(_?\w+_?)proj
\w+_\w+_\w+
(?:attn|mlp)+
(lora_[AB]\.)?(default\.)?weight
^[^.]+\.[^.]+\.[^.]+\.[^.]+\.[^.]+\.[^.]+
model\.(layers\.\d+\.)?(mlp\.)?(gate|up)?_?proj
(\d+\.)*\d+
layers\.\d{1,3}\.mlp\.experts\.\d{1,3}\.
\.(0|[1-9]\d*)\.
rotary(_pos)?(_emb(edding)?)?`.split('\n');

/** Ways double with every few characters of a name, or grow with a high power of its length. */
const ENDLESS = String.raw`(((.*)*)*)*x
(a+)+$
(\w+\s?)*$
(a|a)*$
((a|aa))+x
(?:.{1,99})+x
(a*){30}
.*.*.*.*x
([a-z]+)*y
(.*)(.*)\1x
experts\.(\d+,?)+
^(\w+\.?)+$
(layers|layers\.\d)*\d*x(\w|\d)+y
([^.]+|\w+\.)*z
(a?b?)*c
(?:a{1,9}){0,12}b
(a|ab)(b+)((a|ab)(b+))*z
(?=(\w+)+$)x
(?:(a)|\1)*b
\d+\d+\d+\d+\d+$
(.|\n)*(.|\n)*(.|\n)*(.|\n)*x`.split('\n');

/** A name that fits, but for its end, what such expressions look for. */
const NAMES = ['a', 'ab', 'abb', '1', 'a.', 'layers.1.', 'Module.0.decoder.layers.2.self_attention.linear_qkv.ColumnParallelLinear.forward.0', 'x_', '.*'].map((part) => `${part.repeat(Math.ceil(120 / part.length))}!`);

describe('an expression that could stop the page', () => {
  it.each([...ENDLESS, 'a?'.repeat(30) + 'a{30}', '(a|ab)b+'.repeat(30), 'a+a?b'.repeat(30), '(?:a?|b?|c?|d?)'.repeat(15)])('%s is not tried', (source) => {
    expect(mayNeverEnd(source)).toBe(true);
    expect(expressionPattern(source)).toBe(null);
  });
});

describe('an expression that ends soon', () => {
  it.each([...TYPICAL, 'layers\\.\\d+\\.mlp.*forward', '(abc)+', '[*+(]+x', '\\(a+\\)+', '(\\d)\\1', '', '^$', 'a||b', '[\\]]+\\]', '.{0,20}x.{0,20}'])('%s is tried', (source) => {
    expect(mayNeverEnd(source)).toBe(false);
    const expression = expressionPattern(source)?.expression;
    const before = performance.now();
    for (const name of NAMES) expression?.test(name);
    expect(performance.now() - before).toBeLessThan(1000);
  });

  it('is known to be one soon', () => {
    const before = performance.now();
    for (const source of [...TYPICAL, ...ENDLESS]) mayNeverEnd(source);
    expect(performance.now() - before).toBeLessThan(2000);
  });
});

describe('an expression with stars', () => {
  it('is never made of a text with many of them', () => {
    for (const text of ['*a'.repeat(40) + '*x', '*'.repeat(200) + 'x', 'a?*'.repeat(30) + 'x']) {
      const { expression } = globPattern(text);
      const before = performance.now();
      expect(expression?.test('a'.repeat(300))).toBe(false);
      expect(performance.now() - before).toBeLessThan(500);
    }
    expect(globPattern('b*c?e*g').expression?.test('abxcdefg')).toBe(true);
    expect(globPattern('a*b').expression?.test('b a')).toBe(false);
    expect(globPattern('*').expression?.test('anything')).toBe(true);
  });
});
