/** Messages of the converter: in English as they come, in Chinese made of code and arguments. */
import { PbfReader, PbfWriter } from 'pbf';
import { describe, expect, it } from 'vitest';
import type { Said } from '../src/core/types';
import { inChinese } from '../src/i18n/messages';
import { readMessage, writeMessage, type Message } from '../src/wire/graph_pb';
import { saidOf } from '../src/wire/said';

const said = (code: string, text: string, parameters: Said['arguments'] = {}): Said => ({ code, text, arguments: parameters });

describe('a message in Chinese', () => {
  it('has its arguments in it', () => {
    expect(inChinese(said('evidence.block_of', 'block 2 of 24', { number: '2', count: '24' }))).toBe('第 2 层，共 24 层');
  });

  it('says its parts in Chinese too', () => {
    const rule = said('mapping.rule', 'rule A.b (line 7)', { scope: 'A', source: 'b', line: '7' });
    expect(inChinese(said('evidence.below_rule', 'same name below rule A.b (line 7)', { rule }))).toBe('在规则 A.b（第 7 行）之下名称相同');
  });

  it('lists several names and several sentences as Chinese does', () => {
    expect(inChinese(said('known_are', 'known are a, b', { words: ['a', 'b'] }))).toBe('可用的有 a、b');
    expect(inChinese(said('joined', 'same class; q ~ query', { parts: [said('evidence.same_class', 'same class'), 'q ~ query'] }))).toBe('类名相同；q ~ query');
  });

  it('stays English where a newer converter says what is not known here', () => {
    expect(inChinese(said('evidence.of_2031', 'seen in a dream'))).toBe('seen in a dream');
    expect(inChinese('only a text')).toBe('only a text');
  });

  it('takes an argument for what it is, not for a template', () => {
    expect(inChinese(said('mapping.rule', '', { scope: '{line}', source: '{scope}', line: '1' }))).toBe('规则 {line}.{scope}（第 1 行）');
  });
});

describe('a message of a graph file', () => {
  const roundTrip = (message: Partial<Message>): Message => {
    const writer = new PbfWriter();
    writeMessage({ text: undefined, code: '', arguments: [], ...message }, writer);
    return readMessage(new PbfReader(writer.finish()));
  };
  const part = (en: string, code = ''): Message => ({ text: { en, zh: '' }, code, arguments: [] });

  it('keeps code, arguments and what they are made of', () => {
    const stored = roundTrip({
      code: 'outer',
      arguments: [
        { name: 'plain', text: 'x', parts: [] },
        { name: 'one', text: '', parts: [part('inside', 'inner')] },
        { name: 'many', text: '', parts: [part('a'), part('b')] },
      ],
    });
    expect(saidOf(stored, 'the sentence')).toEqual({ code: 'outer', text: 'the sentence', arguments: { plain: 'x', one: said('inner', 'inside'), many: ['a', 'b'] } });
  });

  it('is its English text in files of older converters', () => {
    expect(saidOf(roundTrip({ text: { en: 'old', zh: 'old' } }))).toBe('old');
    expect(saidOf(undefined, 'same name')).toBe('same name');
  });
});
