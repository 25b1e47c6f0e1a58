/** Tests an expression on the names of one side, as seldom as it can: names that differ in the call number only are mostly alike to it. */
import { digitsOf } from './format';
import { stringAt, type TextTable } from './name_text';
import { NO_CALL, NodeKind, type Side } from './types';

const DIGITS = 16; // more than a call number has, and a power of two

/**
 * Nodes of one side by name: those whose names differ in the call number only, by as many digits, share a group.
 * Worked out once, in pieces if wanted; another matching of the same graph has the same groups.
 */
export class NameGroups {
  readonly of: Int32Array; // group of each node below `done`
  count = 0;
  private done = 1;
  private lastOfHead: Int32Array; // per string: the group made last for names that begin with it, -1 = none
  private before: number[] = []; // the group made before for the same head
  private rest: number[] = []; // tail and number of digits

  constructor(
    private readonly side: Side,
    strings: number,
  ) {
    this.of = new Int32Array(side.count);
    this.lastOfHead = new Int32Array(strings).fill(-1);
  }

  /** Goes on up to a node; returns whether all are done. */
  workOut(limit: number): boolean {
    const { head, tail, call, count } = this.side;
    const { of, lastOfHead, before, rest } = this;
    const end = Math.min(limit, count);
    for (; this.done < end; this.done++) {
      const node = this.done;
      const own = call[node] === NO_CALL ? 0 : tail[node] * DIGITS + digitsOf(call[node]);
      const last = lastOfHead[head[node]];
      let group = last;
      while (group >= 0 && rest[group] !== own) group = before[group];
      if (group < 0) {
        group = this.count++;
        before.push(last);
        rest.push(own);
        lastOfHead[head[node]] = group;
      }
      of[node] = group;
    }
    if (this.done < count) return false;
    this.lastOfHead = new Int32Array(0);
    this.before = this.rest = [];
    return true;
  }
}

const known = new WeakMap<Uint32Array, NameGroups>(); // by the column `head`

/** The groups of a side's names, perhaps not worked out yet. */
export function nameGroups(side: Side, strings: number): NameGroups {
  let groups = known.get(side.head);
  if (!groups) {
    groups = new NameGroups(side, strings);
    known.set(side.head, groups);
  }
  return groups;
}

const UNKNOWN = 0;
const YES = 1;
const NO = 2;
const SOME = 2048; // names tested between two looks at the clock

/** Whether an expression takes all digits alike: it holds none, and nothing that refers back to what it found. */
function takesDigitsAlike(expression: RegExp): boolean {
  return !/\d|\\k/.test(expression.source);
}

/** One expression on the names of one side, in lower case. */
export class NameTest {
  private readonly groupOf: Int32Array | null; // null = every node for itself
  private readonly answers: Uint8Array; // per group or node
  private tested = 0;
  private lastHead = -1;
  private text = '';

  constructor(
    private readonly table: TextTable,
    private readonly side: Side,
    private readonly expression: RegExp,
  ) {
    const groups = takesDigitsAlike(expression) ? nameGroups(side, table.end.length) : null;
    groups?.workOut(side.count);
    this.groupOf = groups?.of ?? null;
    this.answers = new Uint8Array(groups?.count ?? side.count);
  }

  private fits(node: number): boolean {
    const at = this.groupOf ? this.groupOf[node] : node;
    if (this.answers[at] === UNKNOWN) this.answers[at] = this.test(node) ? YES : NO;
    return this.answers[at] === YES;
  }

  private test(node: number): boolean {
    const { head, tail, call } = this.side;
    this.tested++;
    if (head[node] !== this.lastHead) {
      this.lastHead = head[node];
      this.text = stringAt(this.table, this.lastHead);
    }
    return this.expression.test(call[node] === NO_CALL ? this.text : this.text + call[node] + stringAt(this.table, tail[node]));
  }

  /** Clears the flag of every node whose name does not fit. */
  narrow(flags: Uint8Array): void {
    for (let node = 1; node < flags.length; node++) if (flags[node] && !this.fits(node)) flags[node] = 0;
  }

  /**
   * Clears the flags of nodes that do not fit, from one node on, for a while; returns where it stopped. A call of an API fits where
   * what encloses it does, which must have a flag too. A name without the expression's literal is not tested: it cannot fit.
   */
  narrowForAWhile(flags: Uint8Array, literal: Uint8Array, from: number): number {
    const { kind, parent, count } = this.side;
    const until = this.tested + SOME;
    let node = from;
    for (; node < count && this.tested < until; node++) {
      if (flags[node] && !(literal[node] && this.fits(node))) flags[node] = kind[node] === NodeKind.api ? flags[parent[node]] : 0;
    }
    return node;
  }
}

/** The nodes with a flag, and of those that are calls of APIs what encloses them: 1 each. */
export function withEnclosing(side: Side, flags: Uint8Array): Uint8Array {
  const { kind, parent } = side;
  const all = flags.slice();
  for (let node = side.count - 1; node > 0; node--) if (all[node] && kind[node] === NodeKind.api) all[parent[node]] = 1;
  all[0] = 0;
  return all;
}
