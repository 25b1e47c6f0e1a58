/** One short phrase why a pair is what it is: from its errors and the ids of its reasons, without asking for details. */
import { formatError } from '../core/format';
import { gain } from '../core/search_terms';
import { Cause, type Graph } from '../core/types';
import { t } from '../i18n';

/** "bias differs"-like words need the details; the list says what the columns know: gain, parameter error, non-finite. */
export function reasonSummary(open: Graph, pair: number): string {
  const { cause, error, inputError, parameterError, reasons } = open.verdicts;
  const has = (id: string): boolean => open.summary.reasons.some((item) => item.id === id && reasons[pair] & (1 << item.code));
  switch (cause[pair]) {
    case Cause.parameter:
      return error[pair] > 0 ? t('details.outputError', { error: formatError(error[pair]) }) : '';
    case Cause.inherited:
    case Cause.amplified:
    case Cause.recovered: {
      const factor = gain(open, pair);
      return Number.isFinite(factor) ? t('findings.gain', { gain: factor >= 100 || factor < 0.01 ? factor.toExponential(0) : factor.toPrecision(2) }) : '';
    }
    case Cause.introduced:
      if (has('nonfinite')) return t('class.nonfinite');
      if (inputError[pair] === 0) return t('details.inputsAgree');
      return inputError[pair] > 0 ? t('details.inputError', { error: formatError(inputError[pair]) }) : '';
    default:
      return parameterError[pair] > 0 ? t('details.parameterError', { error: formatError(parameterError[pair]) }) : '';
  }
}
