/** How many nodes of each class lie in a range of nodes, in constant time and two bytes of memory a node. */

const BLOCK = 64;
export const CLASS_LIMIT = 32; // classes are numbers below this, bits of a mask

/** Classes of one side (one byte a node) with cumulative counts at every 64th node. */
export interface ClassColumn {
  readonly classes: Uint8Array;
  readonly blocks: Uint32Array; // [ceil(count / 64) + 1, CLASS_LIMIT]
}

export function classColumn(classes: Uint8Array): ClassColumn {
  const blockCount = Math.ceil(classes.length / BLOCK);
  const blocks = new Uint32Array((blockCount + 1) * CLASS_LIMIT);
  const running = new Uint32Array(CLASS_LIMIT);
  for (let block = 0; block < blockCount; block++) {
    const stop = Math.min((block + 1) * BLOCK, classes.length);
    for (let i = block * BLOCK; i < stop; i++) running[classes[i]]++;
    blocks.set(running, (block + 1) * CLASS_LIMIT);
  }
  return { classes, blocks };
}

/** Adds the counts of nodes [from, to) to `into` (length CLASS_LIMIT), which is cleared first. */
export function countRange(column: ClassColumn, from: number, to: number, into: Uint32Array): void {
  into.fill(0);
  if (to <= from) return;
  const { classes, blocks } = column;
  const firstBlock = Math.ceil(from / BLOCK);
  const lastBlock = Math.floor(to / BLOCK);
  if (firstBlock >= lastBlock) {
    for (let i = from; i < to; i++) into[classes[i]]++;
    return;
  }
  for (let i = from; i < firstBlock * BLOCK; i++) into[classes[i]]++;
  for (let i = lastBlock * BLOCK; i < to; i++) into[classes[i]]++;
  const low = firstBlock * CLASS_LIMIT;
  const high = lastBlock * CLASS_LIMIT;
  for (let c = 0; c < CLASS_LIMIT; c++) into[c] += blocks[high + c] - blocks[low + c];
}

/** The first node in [from, to) whose class is set in `mask` (bit c = class c); -1 when there is none. Skips whole blocks. */
export function firstInRange(column: ClassColumn, from: number, to: number, mask: number): number {
  const { classes, blocks } = column;
  let i = from;
  while (i < to) {
    if (i % BLOCK === 0 && i + BLOCK <= to) {
      const low = (i / BLOCK) * CLASS_LIMIT;
      let any = false;
      for (let c = 0; c < CLASS_LIMIT && !any; c++) any = (mask & (1 << c)) !== 0 && blocks[low + CLASS_LIMIT + c] !== blocks[low + c];
      if (!any) {
        i += BLOCK;
        continue;
      }
    }
    if (mask & (1 << classes[i])) return i;
    i++;
  }
  return -1;
}
