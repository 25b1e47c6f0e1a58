/** Steps and ranks of the open run as one line each: where it is wrong is seen before anything is chosen. */
import { CauseClass } from '../core/colouring';
import { local, t } from '../i18n';
import { className } from '../i18n/class_names';
import { chosen } from '../state/app';
import { openGraph } from '../state/open';
import { graphStates, severalGraphs, stateKey } from '../state/overview';
import { causes } from '../state/view';
import type { RunGraph } from '../wire/source';
import { Sign } from './sign';

const CLASS_OF_WORD: Readonly<Record<string, number>> = {
  parameter: CauseClass.parameter,
  introduced: CauseClass.introduced,
  inherited: CauseClass.inherited,
  warning: CauseClass.warning,
  clean: CauseClass.clean,
};

function Cell({ run, item }: { readonly run: string; readonly item: RunGraph }) {
  const state = graphStates.value.get(stateKey(item.step, item.rank));
  const current = chosen.value?.step === item.step && chosen.value.rank === item.rank;
  // The list of runs knows the word; the sentence comes with the graph's summary.
  const cls = causes.value?.classes[state?.cls ?? CLASS_OF_WORD[item.verdict ?? ''] ?? CauseClass.none];
  const words = item.error ? local(item.error) : [cls && cls.id !== 'none' ? className(cls, 'cause') : '', local(state?.text)].filter(Boolean).join(': ');
  return (
    <button
      class={current ? 'graph-cell on' : 'graph-cell'}
      aria-pressed={current}
      disabled={Boolean(item.error)}
      title={words}
      aria-label={[`${t('pick.step')} ${item.step}, ${t('pick.rank')} ${item.rank}`, words].filter(Boolean).join(': ')}
      onClick={() => void openGraph({ run, step: item.step, rank: item.rank })}
    >
      {cls ? <Sign item={cls} /> : null}
      {item.rank}
    </button>
  );
}

export function GraphsStrip() {
  const run = severalGraphs.value;
  if (!run) return null;
  const steps = [...new Set(run.graphs.map((item) => item.step))].sort((a, b) => a - b);
  return (
    <nav class="graphs-strip scrolls" aria-label={t('graphs.label')}>
      {steps.map((step) => (
        <div key={step} class="graphs-row">
          <span class="dim">
            {t('pick.step')} {step} · {t('pick.rank')}
          </span>
          {run.graphs
            .filter((item) => item.step === step)
            .sort((a, b) => a.rank - b.rank)
            .map((item) => (
              <Cell key={item.rank} run={run.run} item={item} />
            ))}
        </div>
      ))}
    </nav>
  );
}
