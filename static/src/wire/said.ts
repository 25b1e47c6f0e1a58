/** Messages of a graph file. Files of older converters hold the English text only. */
import type { Said } from '../core/types';
import type { Argument, Message } from './graph_pb';

/** `text`: the English sentence, where it is kept elsewhere. */
export function saidOf(message: Message | undefined, text = message?.text?.en ?? ''): string | Said {
  if (!message?.code) return text;
  return { code: message.code, text, arguments: Object.fromEntries(message.arguments.map((argument) => [argument.name, valueOf(argument)])) };
}

function valueOf(argument: Argument): Said['arguments'][string] {
  const parts = argument.parts.map((part) => saidOf(part));
  if (parts.length === 0) return argument.text;
  return parts.length === 1 ? parts[0] : parts;
}
