/** Views on the `bytes` columns of a message: typed arrays without a copy where the bytes are aligned. All columns are little-endian. */
import { SourceError } from './source';

type TypedArrayConstructor<T> = {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, offset: number, length: number): T;
  new (length: number): T;
};

/** `length` is checked: a column of another length means that the file is damaged. Absent = all zero. */
export function column<T>(bytes: Uint8Array | undefined, type: TypedArrayConstructor<T>, length: number, name: string): T {
  const size = type.BYTES_PER_ELEMENT;
  if (bytes === undefined || bytes.length === 0) return new type(length);
  if (bytes.length !== length * size) {
    const found = bytes.length / size;
    throw damaged(`column "${name}" has ${found} elements, expected ${length}`, `列 "${name}" 有 ${found} 个元素，应为 ${length} 个`);
  }
  if (bytes.byteOffset % size === 0) return new type(bytes.buffer, bytes.byteOffset, length);
  const copy = bytes.slice();
  return new type(copy.buffer, 0, length);
}

/** `why` is of a decoder, in English. */
export function damaged(why: string, whyZh = why): SourceError {
  return new SourceError(
    { en: `${why}: the graph file is damaged or was written by another version; convert again`, zh: `${whyZh}：图文件已损坏，或由其他版本写入；请重新转换` },
    'damaged',
  );
}
