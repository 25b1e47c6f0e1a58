/** Section "errors/outputs" → one column a statistic. */
import type { StatisticNumber } from '../core/query';
import { column } from './columns';
import type { PairErrors } from './graph_pb.js';

const AS_THE_PAIR = -1;

/** Puts back the pair's own error where the file says that it is the same. */
export function outputErrors(message: PairErrors, error: Float32Array): Record<StatisticNumber, Float32Array> {
  const of = (bytes: Uint8Array | undefined, name: string): Float32Array => column(bytes, Float32Array, error.length, name).map((value, pair) => (value === AS_THE_PAIR ? error[pair] : value));
  return { max_err: of(message.max, 'errors.max'), min_err: of(message.min, 'errors.min'), mean_err: of(message.mean, 'errors.mean'), norm_err: of(message.norm, 'errors.norm') };
}
