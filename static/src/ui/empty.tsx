/** What is shown instead of graphs: loading, nothing there, or why it cannot be shown, each with what to do next. */
import { formatBytes } from '../core/format';
import { firstReadable, runLabels } from '../core/run_labels';
import { VERDICT_SIGNS, worstVerdict } from '../core/verdict_words';
import { local, t } from '../i18n';
import { chosen, failure, loading, runs } from '../state/app';
import { conversion } from '../state/convert';
import { listRuns, openGraph } from '../state/open';
import { ConvertPanel, mayConvert } from './panels/convert';

/** What can be opened in the place of a graph that cannot. */
function OtherRuns() {
  const list = (runs.value?.runs ?? []).filter((run) => firstReadable([run]));
  if (list.length === 0) return null;
  const open = (name: string): void => {
    const first = firstReadable(list.filter((run) => run.run === name));
    if (first) void openGraph(first);
  };
  return (
    <>
      <h3>{t('failure.runs')}</h3>
      <ul class="other-runs">
        {runLabels(list).map(({ run, name, time, dumps }) => {
          const word = worstVerdict(list.find((item) => item.run === run)?.graphs ?? []);
          return (
            <li key={run}>
              <button class="link" title={run} onClick={() => open(run)}>
                {name}
              </button>
              <span class="dim">{[time, dumps, word ? `${VERDICT_SIGNS[word]} ${t(`class.${word}`)}` : ''].filter(Boolean).join(' · ')}</span>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function Failure() {
  const retry = (): void => {
    const key = chosen.value;
    failure.value = null;
    if (key) void openGraph(key);
    if (!key || !runs.value) void listRuns(key === null);
  };
  return (
    <div class="empty" role="alert">
      <h2>{t('failure.title')}</h2>
      <p>{local(failure.value)}</p>
      <button onClick={retry}>{t('failure.retry')}</button>
      <OtherRuns />
    </div>
  );
}

function Loading() {
  const waiting = loading.value;
  return (
    <div class="empty" role="status">
      <p>{waiting ? t('loading.graph', { what: waiting.what }) : t('loading.runs')}</p>
      {waiting && waiting.total > 0 ? (
        <>
          <progress max={waiting.total} value={waiting.done} aria-label={t('loading.graph', { what: waiting.what })} />
          <p class="dim">{t('loading.bytes', { done: formatBytes(waiting.done), total: formatBytes(waiting.total) })}</p>
        </>
      ) : null}
    </div>
  );
}

/** A conversion under way, or just made, is what there is to say. */
function headline(): string {
  const state = conversion.value?.state;
  return state === 'running' ? t('empty.converting') : state === 'done' ? t('empty.converted') : t('empty.title');
}

export function Empty() {
  if (failure.value) return <Failure />;
  const list = runs.value;
  if (loading.value || !list) return <Loading />;
  const broken = list.runs.flatMap((run) => [
    ...(run.error ? [{ name: run.run, error: run.error }] : []),
    ...run.graphs.filter((item) => item.error).map((item) => ({ name: `${run.run}/${item.file}`, error: item.error })),
  ]);
  return (
    <div class="empty">
      <h2>{headline()}</h2>
      {list.scanning ? <p role="status">{t('empty.scanning')}</p> : null}
      {(list.problems ?? []).map((problem) => (
        <p key={problem.en} role="alert">
          {local(problem)}
        </p>
      ))}
      {conversion.value ? null : (
        <>
          <p>{t('empty.how')}</p>
          <pre>{t('empty.command')}</pre>
        </>
      )}
      {mayConvert() ? <ConvertPanel /> : null}
      {broken.length > 0 ? (
        <>
          <p>{t('empty.unreadable')}</p>
          <ul>
            {broken.map((item) => (
              <li key={item.name}>
                <code>{item.name}</code> {local(item.error)}
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </div>
  );
}
