/** Names of the files that the viewer hands out: valid on every system, whatever runs and nodes are called. Pure. */
import type { GraphKey } from './types';

const LONGEST = 200; // bytes; file systems take 255, and a browser may put " (1)" behind
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)$/i; // what Windows keeps for itself
const encoder = new TextEncoder();

/** As many characters from the end, or from the beginning, as `bytes` hold. */
function within(text: string, bytes: number, fromEnd: boolean): string {
  const characters = [...text];
  if (fromEnd) characters.reverse();
  let used = 0;
  let taken = 0;
  while (taken < characters.length && (used += encoder.encode(characters[taken]).length) <= bytes) taken++;
  const kept = characters.slice(0, taken);
  return (fromEnd ? kept.reverse() : kept).join('');
}

/** Letters, digits, dots, dashes; what is too long loses its middle, since runs are told apart by what stands last. */
function words(text: string, bytes: number): string {
  const plain = text.normalize('NFC').replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '_').replace(/^[._-]+|[._]+$/g, '');
  if (encoder.encode(plain).length <= bytes) return plain;
  const half = Math.floor((bytes - 1) / 2);
  return `${within(plain, half, false)}~${within(plain, half, true)}`;
}

/** A file name of what may hold anything; `ending` as it is, with its dot. */
export function fileName(text: string, ending = ''): string {
  const name = words(text, LONGEST - ending.length) || 'graph';
  return `${DEVICES.test(name.split('.')[0]) ? '_' : ''}${name}${ending}`;
}

/** Of something of one graph: run, step and rank, and what else tells it from other files of that graph. */
export function graphFileName(key: GraphKey, ending: string, what = ''): string {
  const behind = `_step${key.step}_rank${key.rank}`;
  const more = what === '' ? '' : `_${words(what, 60)}`;
  const run = words(key.run, LONGEST - ending.length - encoder.encode(behind + more).length) || 'graph';
  return fileName(`${run}${behind}${more}`, ending);
}
