/** Takes matches and marks over from another run: a new comparison of the same two sides begins with what is known about them. */
import { runLabels } from '../../core/run_labels';
import { t } from '../../i18n';
import { graph, runs } from '../../state/app';
import { takeOver } from '../../state/marks';
import { showNote } from '../copy';

const MOST_RUNS = 200;

export function TakeOver() {
  const open = graph.value;
  const others = (runs.value?.runs ?? []).filter((run) => run.run !== open?.key.run && run.graphs.some((item) => item.step === open?.key.step && item.rank === open?.key.rank && !item.error));
  if (!open || others.length === 0) return null;
  const choose = (event: Event): void => {
    const select = event.currentTarget as HTMLSelectElement;
    const run = select.value;
    select.value = '';
    if (run) void takeOver(run).then((count) => showNote(t('matches.tookOver', { count })));
  };
  return (
    <label class="action file">
      {t('matches.takeOver')}
      <select value="" aria-label={t('matches.takeOver')} onChange={choose}>
        <option value="">{t('matches.takeOver')}</option>
        {runLabels(others)
          .slice(0, MOST_RUNS)
          .map((label) => (
            <option key={label.run} value={label.run}>
              {[label.name, label.time].filter(Boolean).join(' · ')}
            </option>
          ))}
      </select>
    </label>
  );
}
