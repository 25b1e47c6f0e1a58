/** Offers what was just matched or marked for the other ranks and steps of the run. */
import { local, t } from '../../i18n';
import { lastAdded } from '../../state/marks';
import { alsoFor, others, spreading, type Reach } from '../../state/other_graphs';
import { showNote } from '../copy';

async function spread(reach: Reach): Promise<void> {
  const { done, problem } = await alsoFor(reach);
  showNote(problem ? local(problem) : t('matches.alsoDone', { count: done }));
}

function label(reach: Reach, count: number): string {
  if (reach === 'all') return t('matches.alsoAll', { count });
  return count === 1 ? t('matches.alsoRank') : t('matches.alsoRanks', { count });
}

export function AlsoFor() {
  if (lastAdded.value.length === 0) return null;
  const { ranks, all } = others.value;
  const offered: readonly Reach[] = [...(ranks.length > 0 ? (['ranks'] as const) : []), ...(all.length > ranks.length ? (['all'] as const) : [])];
  if (offered.length === 0) return null;
  return (
    <div class="notice-box" role="status">
      <span>{t('matches.alsoHow')}</span>
      <div class="buttons">
        {offered.map((reach) => (
          <button key={reach} class="action primary" disabled={spreading.value} onClick={() => void spread(reach)}>
            {label(reach, others.value[reach].length)}
          </button>
        ))}
        <button class="action" disabled={spreading.value} onClick={() => (lastAdded.value = [])}>
          {t('matches.alsoNot')}
        </button>
      </div>
    </div>
  );
}
