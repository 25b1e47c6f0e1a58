/** Views on the `bytes` columns of a message: typed arrays without a copy where the bytes are aligned. All columns are little-endian. */

type TypedArrayConstructor<T> = {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, offset: number, length: number): T;
  new (length: number): T;
};

/** `length` is checked: a column of another length means that the file is damaged. Absent = all zero. */
export function column<T>(bytes: Uint8Array | undefined, type: TypedArrayConstructor<T>, length: number, name: string): T {
  const size = type.BYTES_PER_ELEMENT;
  if (bytes === undefined || bytes.length === 0) return new type(length);
  if (bytes.length !== length * size) throw new DamagedColumn(name, length, bytes.length / size);
  if (bytes.byteOffset % size === 0) return new type(bytes.buffer, bytes.byteOffset, length);
  const copy = bytes.slice();
  return new type(copy.buffer, 0, length);
}

export class DamagedColumn extends Error {
  constructor(name: string, expected: number, found: number) {
    super(`column "${name}" has ${found} elements, expected ${expected}: the graph file is damaged or was written by another version; convert again`);
  }
}
