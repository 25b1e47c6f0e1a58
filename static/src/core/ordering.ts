/** Sorting rows by a number each: stable, in three passes over typed arrays whatever the number of rows. */

const bits = new Uint32Array(1);
const asFloat = new Float32Array(bits.buffer);

/** A whole number below 2^32 that grows with a value from 0 to infinity; 0 for anything that was not measured. */
export function rank(value: number): number {
  if (Number.isNaN(value) || value < 0) return 0;
  asFloat[0] = value;
  return bits[0] + 1;
}

const DIGIT = 11;
const BUCKETS = 1 << DIGIT;

/** Rows with the largest key first, those of equal keys in the order they came in. Changes `keys`. */
export function largestFirst(rows: Int32Array, keys: Uint32Array): Int32Array {
  const n = rows.length;
  let fromRows = rows;
  let fromKeys = keys;
  let toRows: Int32Array = new Int32Array(n);
  let toKeys: Uint32Array = new Uint32Array(n);
  for (let shift = 0; shift < 32; shift += DIGIT) {
    const start = new Uint32Array(BUCKETS + 1);
    for (let i = 0; i < n; i++) start[BUCKETS - ((fromKeys[i] >>> shift) & (BUCKETS - 1))]++;
    if (start.includes(n)) continue; // all alike in these bits
    for (let k = 1; k <= BUCKETS; k++) start[k] += start[k - 1];
    // start[k] counts digits from the largest down to k's; the first place of a digit is the count above it.
    for (let i = 0; i < n; i++) {
      const key = fromKeys[i];
      const place = start[BUCKETS - 1 - ((key >>> shift) & (BUCKETS - 1))]++;
      toRows[place] = fromRows[i];
      toKeys[place] = key;
    }
    const [freeRows, freeKeys] = fromRows === rows ? [new Int32Array(n), new Uint32Array(n)] : [fromRows, fromKeys];
    [fromRows, fromKeys, toRows, toKeys] = [toRows, toKeys, freeRows, freeKeys];
  }
  return fromRows === rows ? rows.slice() : fromRows;
}
