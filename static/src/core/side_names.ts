/** Which of the dump directories below a log directory is probably the target and which the golden one, by their names. Pure. */

/** How much a word speaks for the golden side; below 0 for the target side. What runs on a GPU is the reference of what runs on an NPU, a CPU of both. */
const WORDS: Readonly<Record<string, number>> = {
  golden: 4, bench: 4, benchmark: 4, reference: 4, ref: 4, baseline: 4,
  cpu: 2, gpu: 1, cuda: 1,
  npu: -1, ascend: -1,
  target: -4, debug: -4, bug: -4,
};

interface Read {
  readonly score: number;
  readonly rest: string; // the name without those words
}

function read(name: string): Read {
  const parts = name.toLowerCase().split(/(\p{L}+)/u);
  const words = parts.filter((part) => Object.hasOwn(WORDS, part));
  const strongest = words.reduce((most, word) => (Math.abs(WORDS[word]) > Math.abs(most) ? WORDS[word] : most), 0);
  // Numbers of cards and separators say nothing: npu0 and gpu_8.
  const rest = parts.filter((part) => /\p{L}/u.test(part) && !Object.hasOwn(WORDS, part));
  return { score: strongest, rest: rest.join(' ') };
}

export interface Sides {
  readonly target: string;
  readonly golden: string;
}

/** The golden side of a target; '' where no name, or more than one, says so. */
export function goldenFor(target: string, names: readonly string[]): string {
  const own = read(target);
  const others = names.filter((name) => name !== target);
  const found = others.filter((name) => {
    const there = read(name);
    return there.score > own.score && (there.rest === own.rest || others.length === 1);
  });
  return found.length === 1 ? found[0] : '';
}

/** Both sides, where exactly one pair of directories is told apart by its names; null otherwise. */
export function sidesOf(names: readonly string[]): Sides | null {
  const found = names.map((target) => ({ target, golden: goldenFor(target, names) })).filter(({ golden }) => golden !== '');
  return found.length === 1 ? found[0] : null;
}
