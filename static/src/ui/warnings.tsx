/** What the converter noticed, listed below the verdicts when asked for. */
import { signal } from '@preact/signals';
import { say } from '../i18n';
import { graph } from '../state/app';
import { saidOf } from '../wire/said';

export const warningsOpen = signal(false);

export function Warnings() {
  const open = graph.value;
  if (!open || !warningsOpen.value || open.summary.warnings.length === 0) return null;
  return (
    <ul class="warnings scrolls" tabIndex={0}>
      {open.summary.warnings.map((warning, i) => (
        <li key={i}>{say(saidOf(warning))}</li>
      ))}
    </ul>
  );
}
