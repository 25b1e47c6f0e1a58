/**
 * In how many ways an expression can take the same text: trying all of them is what makes one slow. The expression becomes the automaton of
 * its characters (Glushkov): states are characters of the expression, and an edge knows whether there is more than one way along it.
 * Degrees of ambiguity: A. Weber, H. Seidl, On the degree of ambiguity of finite automata (1991). Pure.
 */
import type { Piece } from './expression_syntax';

const LONGEST = 300; // characters that a name has at most, as a rule
const MOST_STATES = 240;
const MOST_WORK = 200_000; // steps of the analysis itself

/** What stands for all characters: ASCII, some of other scripts, and what the expression names. */
function alphabetOf(sources: readonly string[]): string[] {
  const found = new Set<string>(['é', 'ß', 'я', 'Я', '中', '\ue000', '\u2028', '😀', 'ſ', '\u212a']);
  for (let code = 0; code < 128; code++) found.add(String.fromCharCode(code));
  for (const source of sources) {
    for (const letter of source) found.add(letter);
    for (const [, hex] of source.matchAll(/\\[ux]\{?([\da-fA-F]{1,6})/g)) if (parseInt(hex, 16) <= 0x10ffff) found.add(String.fromCodePoint(parseInt(hex, 16)));
  }
  return [...found];
}

/** Whether two atoms, by their sources, can take one character. */
class Overlaps {
  private readonly taken = new Map<string, Set<string>>();
  private readonly known = new Map<string, boolean>();
  private readonly alphabet: readonly string[];

  constructor(sources: readonly string[]) {
    this.alphabet = alphabetOf(sources);
  }

  private charactersOf(source: string): Set<string> {
    let found = this.taken.get(source);
    if (!found) {
      let expression: RegExp;
      try {
        expression = new RegExp(`^(?:${source})$`, 'iu');
      } catch {
        expression = new RegExp(`^(?:${source})$`, 'i');
      }
      found = new Set(this.alphabet.filter((letter) => expression.test(letter)));
      this.taken.set(source, found);
    }
    return found;
  }

  between(a: string, b: string): boolean {
    const key = a < b ? `${a}\n${b}` : `${b}\n${a}`;
    let found = this.known.get(key);
    if (found === undefined) {
      const other = this.charactersOf(b);
      found = [...this.charactersOf(a)].some((letter) => other.has(letter));
      this.known.set(key, found);
    }
    return found;
  }
}

const MANY = 1_000_000; // ways that are not told apart from more

/** Ways by state. */
type Ways = Map<number, number>;

interface Part {
  readonly first: Ways;
  readonly last: Ways;
  readonly empty: number; // ways to take nothing
}

class TooLarge extends Error {}

function add(into: Ways, state: number, ways: number): void {
  if (ways > 0) into.set(state, Math.min(MANY, (into.get(state) ?? 0) + ways));
}

function merged(a: Ways, b: Ways, timesB: number): Ways {
  if (timesB === 0) return a;
  const result = new Map(a);
  for (const [state, ways] of b) add(result, state, ways * timesB);
  return result;
}

const NOTHING: Part = { first: new Map(), last: new Map(), empty: 1 };

/** States 1… are atoms, 0 is the start. */
class Automaton {
  readonly atoms: string[] = [''];
  readonly next: Ways[] = [new Map()];
  /** Lookaheads and lookbehinds: those that stand before everything are tried once, the others wherever the expression gets to them. */
  readonly leading: Piece[] = [];
  readonly around: Piece[] = [];
  private repeating = 0;

  constructor(piece: Piece) {
    const whole = this.part(piece);
    for (const [state, ways] of whole.first) add(this.next[0], state, ways);
  }

  private connect(last: Ways, first: Ways): void {
    for (const [from, a] of last) for (const [to, b] of first) add(this.next[from], to, a * b);
  }

  private behind(a: Part, b: Part): Part {
    this.connect(a.last, b.first);
    return { first: merged(a.first, b.first, a.empty), last: merged(b.last, a.last, b.empty), empty: Math.min(MANY, a.empty * b.empty) };
  }

  private part(piece: Piece): Part {
    switch (piece.kind) {
      case 'empty':
      case 'reference':
        return NOTHING;
      case 'around':
        (this.atoms.length === 1 && this.repeating === 0 ? this.leading : this.around).push(piece.part);
        return NOTHING;
      case 'atom': {
        const state = this.atoms.push(piece.source) - 1;
        if (state > MOST_STATES) throw new TooLarge();
        this.next.push(new Map());
        return { first: new Map([[state, 1]]), last: new Map([[state, 1]]), empty: 0 };
      }
      case 'sequence':
        return piece.parts.map((part) => this.part(part)).reduce((a, b) => this.behind(a, b));
      case 'choice':
        return piece.parts
          .map((part) => this.part(part))
          .reduce((a, b) => ({ first: merged(a.first, b.first, 1), last: merged(a.last, b.last, 1), empty: Math.min(MANY, a.empty + b.empty) }));
      case 'repeat': {
        this.repeating++;
        const found = this.repeat(piece.part, piece.least, piece.most);
        this.repeating--;
        return found;
      }
    }
  }

  private repeat(piece: Piece, least: number, most: number): Part {
    if (most > MOST_STATES && most !== Infinity) throw new TooLarge();
    let behind: Part = NOTHING;
    if (most === Infinity) {
      const again = this.part(piece);
      this.connect(again.last, again.first);
      behind = least === 0 ? { ...again, empty: 1 } : again; // a turn that takes nothing is not tried
    } else {
      for (let k = least; k < most; k++) behind = { ...this.behind(this.part(piece), behind), empty: 1 };
    }
    const before = most === Infinity ? least - 1 : least;
    for (let k = 0; k < before; k++) behind = this.behind(this.part(piece), behind);
    return behind;
  }
}

/** Strongly connected parts: number of the part of each state, from the end of the expression on. */
function components(next: readonly Ways[]): Int32Array {
  const count = next.length;
  const part = new Int32Array(count).fill(-1);
  const index = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const stack: number[] = [];
  let seen = 0;
  let parts = 0;
  const visit = (state: number): void => {
    index[state] = low[state] = seen++;
    stack.push(state);
    for (const to of next[state].keys()) {
      if (index[to] < 0) visit(to);
      if (part[to] < 0) low[state] = Math.min(low[state], low[to]);
    }
    if (low[state] !== index[state]) return;
    for (let top = -1; top !== state; ) part[(top = stack.pop() ?? state)] = parts;
    parts++;
  };
  for (let state = 0; state < count; state++) if (index[state] < 0) visit(state);
  return part;
}

/** A bound of the ways in which a text of LONGEST characters can be taken; Infinity where they double with every few characters. */
export function waysOf(piece: Piece): number {
  try {
    return new Analysis(piece).ways();
  } catch (problem) {
    if (problem instanceof TooLarge) return Infinity;
    throw problem;
  }
}

class Analysis {
  private readonly machine: Automaton;
  private readonly overlaps: Overlaps;
  private readonly part: Int32Array;
  private readonly loops: number[][]; // states of each part that is a loop, by part
  private readonly fed = new Set<number>(); // loops that share text with one before them: acrossLoops counts the ways into those
  private work = 0;

  constructor(piece: Piece) {
    this.machine = new Automaton(piece);
    const { atoms, next } = this.machine;
    this.overlaps = new Overlaps(atoms);
    this.part = components(next);
    this.loops = Array.from({ length: Math.max(...this.part) + 1 }, () => []);
    for (let state = 1; state < next.length; state++) this.loops[this.part[state]].push(state);
    this.loops = this.loops.map((states) => (states.length > 1 || (states.length === 1 && next[states[0]].has(states[0])) ? states : []));
  }

  private step(): void {
    if (++this.work > MOST_WORK) throw new TooLarge();
  }

  private meet(a: number, b: number): boolean {
    this.step();
    return a === b || this.overlaps.between(this.machine.atoms[a], this.machine.atoms[b]);
  }

  ways(): number {
    if (this.doubles()) return Infinity;
    const tried = (pieces: readonly Piece[]): number => pieces.reduce((sum, piece) => sum + waysOf(piece) * LONGEST, 0);
    const across = this.acrossLoops(); // first: says which loops are fed
    return across * this.joins() * (1 + tried(this.machine.around)) + tried(this.machine.leading);
  }

  /** Pairs of states that one text can lead to from one pair, as a number a * count + b with a < b; equal ones are told to `joined`. */
  private fromPair(a: number, b: number, joined: (state: number) => void, inside = -1): number[] {
    const { next } = this.machine;
    const found: number[] = [];
    for (const to of next[a].keys()) {
      if (inside >= 0 && this.part[to] !== inside) continue;
      for (const other of next[b].keys()) {
        if (inside >= 0 && this.part[other] !== inside) continue;
        if (to === other) {
          if (a !== b) joined(to);
        } else if (this.meet(to, other)) found.push(Math.min(to, other) * next.length + Math.max(to, other));
      }
    }
    return found;
  }

  /** Whether a loop can be gone round in two ways by one text: then ways double with every turn. */
  private doubles(): boolean {
    const { next } = this.machine;
    return this.loops.some((states, part) => {
      for (const state of states) for (const [to, ways] of next[state]) if (ways > 1 && this.part[to] === part) return true;
      let again = false;
      const seen = new Set<number>();
      const open = states.flatMap((state) => this.fromPair(state, state, () => undefined, part));
      for (let pair = open.pop(); pair !== undefined && !again; pair = open.pop()) {
        if (seen.has(pair)) continue;
        seen.add(pair);
        open.push(...this.fromPair(Math.floor(pair / next.length), pair % next.length, () => (again = true), part));
      }
      return again;
    });
  }

  /** Places where two ways of one text come together again, but for those that loops in a row make: in each by as many as come. */
  private joins(): number {
    const { next } = this.machine;
    const found = new Map<number, Set<number>>();
    let ways = 1;
    for (const along of next) for (const count of along.values()) ways *= count;
    const seen = new Set<number>();
    const open = next.flatMap((_, state) => this.fromPair(state, state, () => undefined));
    for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
      if (seen.has(pair)) continue;
      seen.add(pair);
      const [a, b] = [Math.floor(pair / next.length), pair % next.length];
      open.push(
        ...this.fromPair(a, b, (state) => {
          if (this.counted(a, b, state) || this.counted(b, a, state)) return;
          const from = found.get(state) ?? new Set();
          found.set(state, from.add(a).add(b));
        }),
      );
    }
    for (const from of found.values()) ways *= from.size;
    return ways;
  }

  /** Whether two ways that come together in `state` differ in when they came into the fed loop of `a`. */
  private counted(a: number, b: number, state: number): boolean {
    const part = this.part[a];
    return this.fed.has(part) && (this.part[state] === part || [...this.machine.next[b].keys()].some((to) => this.part[to] === part));
  }

  /** The most ways in which one text can be divided among loops that follow each other. */
  private acrossLoops(): number {
    const reached = this.loops.map((_, part) => this.partsBehind(part));
    const known = new Map<number, readonly { ways: number; pairs: number }[]>();
    // Of the chains from a loop on: products of text length / shortest text that can be moved between two of them.
    const chains = (part: number): readonly { ways: number; pairs: number }[] => {
      let found = known.get(part);
      if (found) return found;
      const all = [{ ways: 1, pairs: 0 }];
      for (const behind of reached[part]) {
        if (behind === part || this.loops[behind].length === 0) continue;
        const length = this.shared(part, behind);
        if (length > 0) this.fed.add(behind);
        for (const chain of chains(behind)) all.push(length > 0 ? { ways: chain.ways * (LONGEST / length), pairs: chain.pairs + 1 } : chain);
      }
      // One chain per number of pairs: the worst.
      const worst = new Map<number, number>();
      for (const { ways, pairs } of all) worst.set(pairs, Math.max(ways, worst.get(pairs) ?? 0));
      known.set(part, (found = [...worst].map(([pairs, ways]) => ({ ways, pairs }))));
      return found;
    };
    let most = 1;
    this.loops.forEach((states, part) => {
      if (states.length === 0) return;
      for (const { ways, pairs } of chains(part)) {
        let orders = 1;
        for (let k = 2; k <= pairs; k++) orders *= k;
        most = Math.max(most, ways / orders);
      }
    });
    return most;
  }

  private partsBehind(part: number): ReadonlySet<number> {
    const found = new Set<number>([part]);
    const open = [part];
    const { next } = this.machine;
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (let state = 0; state < next.length; state++) {
        if (this.part[state] !== at) continue;
        for (const to of next[state].keys()) {
          if (found.has(this.part[to])) continue;
          found.add(this.part[to]);
          open.push(this.part[to]);
        }
      }
    }
    return found;
  }

  /** Length of the shortest text that goes round the one loop, leads from it to the other, and goes round the other; 0 without one. */
  private shared(from: number, to: number): number {
    const { next } = this.machine;
    const count = next.length;
    let shortest = 0;
    for (const p of this.loops[from]) {
      for (const q of this.loops[to]) {
        const seen = new Set<number>();
        let open: (readonly [number, number, number])[] = [[p, p, q]];
        for (let length = 1; open.length > 0 && (shortest === 0 || length < shortest); length++) {
          const behind: [number, number, number][] = [];
          for (const [a, b, c] of open) {
            for (const x of next[a].keys()) {
              if (this.part[x] !== from) continue;
              for (const z of next[c].keys()) {
                if (this.part[z] !== to || !this.meet(x, z)) continue;
                for (const y of next[b].keys()) {
                  if (!this.meet(x, y) || !this.meet(y, z)) continue;
                  if (x === p && y === q && z === q) {
                    shortest = length;
                    behind.length = 0;
                    break;
                  }
                  const key = (x * count + y) * count + z;
                  if (seen.has(key)) continue;
                  seen.add(key);
                  behind.push([x, y, z]);
                }
              }
            }
          }
          open = shortest === length ? [] : behind;
        }
      }
    }
    return shortest;
  }
}
