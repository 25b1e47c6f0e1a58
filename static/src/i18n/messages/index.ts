/** The Chinese sentences of what the converter and the server say, by code (converter/messages.py). A test compares the codes. */
import type { Said } from '../../core/types';
import { fill } from '../fill';
import { dumps } from './dumps';
import { evidence } from './evidence';
import { mappingMessages } from './mapping';
import { policyMessages } from './policy';

const sentences: Readonly<Record<string, string>> = { ...dumps, ...evidence, ...mappingMessages, ...policyMessages };

/** A message in Chinese; in English as it came where a newer converter says what is not known here. */
export function inChinese(said: Said | string): string {
  if (typeof said === 'string') return said;
  if (said.code === 'joined') return list(said.arguments.parts ?? [], '；');
  if (!Object.hasOwn(sentences, said.code)) return said.text;
  return fill(sentences[said.code], Object.fromEntries(Object.entries(said.arguments).map(([name, value]) => [name, list(value, '、')])));
}

function list(value: Said['arguments'][string], between: string): string {
  if (typeof value === 'string') return value;
  return 'code' in value ? inChinese(value) : value.map(inChinese).join(between);
}
