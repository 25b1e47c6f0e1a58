/** Offers what was just matched or marked for the other ranks and steps of the run. */
import { local, t } from '../../i18n';
import { lastAdded, lastTaken } from '../../state/marks';
import { alsoFor, alsoTakeBack, others, spreading, takeBackPlaces, type Reach } from '../../state/other_graphs';
import { showNote } from '../copy';

async function spread(reach: Reach): Promise<void> {
  const { done, problem } = await alsoFor(reach);
  showNote(problem ? local(problem) : t('matches.alsoDone', { count: done }));
}

function label(reach: Reach, count: number): string {
  if (reach === 'all') return t('matches.alsoAll', { count });
  return count === 1 ? t('matches.alsoRank') : t('matches.alsoRanks', { count });
}

async function takeBack(): Promise<void> {
  const { done, problem } = await alsoTakeBack();
  showNote(problem ? local(problem) : t('matches.backDone', { count: done }));
}

/** What was taken back here had been noted elsewhere too: undo is of the open graph alone, so it is asked. */
function AlsoTakeBack() {
  const count = takeBackPlaces.value.length;
  return (
    <div class="notice-box" role="status">
      <span>{t('matches.backHow', { count })}</span>
      <div class="buttons">
        <button class="action primary" disabled={spreading.value} onClick={() => void takeBack()}>
          {t('matches.back', { count })}
        </button>
        <button class="action" disabled={spreading.value} onClick={() => (lastTaken.value = [])}>
          {t('matches.backNot')}
        </button>
      </div>
    </div>
  );
}

export function AlsoFor() {
  if (takeBackPlaces.value.length > 0) return <AlsoTakeBack />;
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
