/** Pickers for run, step, rank, micro step and colour; search; share, language, theme, help. */
import { availableModes, isMetric, type ColourMode } from '../core/colouring';
import { metricLabel } from '../core/metrics';
import { inMicroStep } from '../core/twins';
import { shortenMiddle } from '../core/names';
import { runLabels } from '../core/run_labels';
import { isBad, VERDICT_SIGNS, worstVerdict } from '../core/verdict_words';
import { t, type TextKey } from '../i18n';
import { locale } from '../i18n/locale';
import { colouring, graph, chosen, microStep, narrow, panel, query, runs, selection, theme } from '../state/app';
import { moveCamera, select } from '../state/actions';
import { metricNames } from '../state/metrics';
import { openGraph } from '../state/open';
import { shareAddress } from '../host/address';
import { embedded } from '../host/tensorboard';
import type { Run, RunGraph } from '../wire/source';
import { copyText } from './copy';
import { helpOpen } from './help';
import { Icon } from './icon';
import { PANELS } from './panels';
import { handedOver } from './panels/search';

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly disabled?: boolean;
}

interface PickerProperties {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly choose: (value: string) => void;
  /** What is shown of the choice; left out = its label. `behind` is never cut. */
  readonly shown?: { readonly text: string; readonly behind: string };
  readonly title?: string;
  readonly wide?: boolean;
}

function Picker({ label, value, choices, choose, shown, title, wide }: PickerProperties) {
  const current = choices.find((item) => item.value === value)?.label ?? value;
  return (
    <label class={wide ? 'pick wide' : 'pick'} title={title ?? current}>
      <span class="pick-label">{label}</span>
      {/* The select lies over its own text, so that the picker is as wide as what is chosen and not as the longest choice. */}
      <b>{shortenMiddle(shown?.text ?? current, 60)}</b>
      {shown?.behind ? <span class="behind">{shown.behind}</span> : null}
      <select value={value} aria-label={label} onChange={(event) => choose((event.currentTarget as HTMLSelectElement).value)}>
        {choices.map((item) => (
          <option key={item.value} value={item.value} disabled={item.disabled}>
            {item.label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A choice of graphs with the sign and the word of the worst of them, so that a bad one is seen before it is opened. */
function graphChoice(value: string, text: string, graphs: readonly RunGraph[]): Choice {
  const word = worstVerdict(graphs);
  const bad = graphs.filter((item) => isBad(item.verdict)).length;
  const words = [text, word ? t(`class.${word}`) : '', bad > 0 && graphs.length > 1 ? t('pick.bad', { bad, count: graphs.length }) : ''];
  return { value, label: `${word ? `${VERDICT_SIGNS[word]} ` : ''}${words.filter(Boolean).join(' · ')}`, disabled: graphs.every((item) => item.error) };
}

function RunPicker({ run, list }: { readonly run: string; readonly list: readonly Run[] }) {
  const labels = runLabels(list);
  const current = labels.find((item) => item.run === run) ?? runLabels([{ run, kind: 'compare' }])[0];
  const graphsOf = (name: string): readonly RunGraph[] => list.find((item) => item.run === name)?.graphs ?? [];
  const open = (name: string): void => {
    const first = graphsOf(name).find((item) => !item.error);
    if (first) void openGraph({ run: name, step: first.step, rank: first.rank });
  };
  const choices = (labels.length > 0 ? labels : [current]).map((item) => graphChoice(item.run, [item.name, item.time, item.dumps].filter(Boolean).join(' · '), graphsOf(item.run)));
  return <Picker label={t('pick.run')} value={run} choices={choices} choose={open} shown={{ text: current.name, behind: current.shortTime }} wide title={[run, current.time, current.dumps].filter(Boolean).join('\n')} />;
}

function Pickers() {
  const key = chosen.value;
  if (!key) return null;
  const list = runs.value?.runs ?? [];
  const graphs = list.find((item) => item.run === key.run)?.graphs ?? [];
  const steps = [...new Set(graphs.map((item) => item.step))].sort((a, b) => a - b);
  const ranks = graphs.filter((item) => item.step === key.step).sort((a, b) => a.rank - b.rank);
  const open = (step: number, rank: number): void => {
    // The same rank where that step has it.
    const inStep = graphs.filter((item) => item.step === step && !item.error);
    const found = inStep.find((item) => item.rank === rank) ?? inStep[0];
    if (found) void openGraph({ run: key.run, step, rank: found.rank });
  };
  const ofStep = (step: number): readonly RunGraph[] => graphs.filter((item) => item.step === step);
  const micro = graph.value?.summary.micro_steps ?? 1;
  return (
    <>
      <RunPicker run={key.run} list={list} />
      <Picker
        label={t('pick.step')}
        value={String(key.step)}
        choices={(steps.length > 0 ? steps : [key.step]).map((step) => graphChoice(String(step), String(step), ofStep(step)))}
        choose={(text) => open(Number(text), key.rank)}
        shown={{ text: String(key.step), behind: '' }}
      />
      <Picker
        label={t('pick.rank')}
        value={String(key.rank)}
        choices={ranks.length > 0 ? ranks.map((item) => graphChoice(String(item.rank), String(item.rank), [item])) : [graphChoice(String(key.rank), String(key.rank), [])]}
        choose={(text) => open(key.step, Number(text))}
        shown={{ text: String(key.rank), behind: '' }}
      />
      {micro > 1 ? (
        <Picker
          label={t('pick.micro')}
          value={String(microStep.value)}
          choices={[{ value: '-1', label: t('pick.all') }, ...Array.from({ length: micro }, (_, k) => ({ value: String(k), label: String(k) }))]}
          choose={(text) => {
            microStep.value = Number(text);
            const ref = selection.value && graph.value ? inMicroStep(graph.value, selection.value, microStep.value) : null;
            select(ref, { reveal: true, centre: true });
            if (!ref) moveCamera({ scroll: 0 });
          }}
        />
      ) : null}
      {graph.value ? (
        <Picker
          label={t('pick.colour')}
          value={colouring.value}
          choices={colourChoices()}
          choose={(mode) => (colouring.value = mode as ColourMode)}
        />
      ) : null}
    </>
  );
}

function colourChoices(): Choice[] {
  const plain = graph.value ? availableModes(graph.value) : [];
  const metrics = isMetric(colouring.value) && metricNames.value.length === 0 ? [colouring.value.slice('metric:'.length)] : metricNames.value;
  return [...plain.map((mode) => ({ value: mode, label: t(`colour.${mode}` as TextKey) })), ...metrics.map((name) => ({ value: `metric:${name}`, label: metricLabel(name) }))];
}

const THEMES = ['auto', 'light', 'dark'] as const;

function Buttons() {
  const themeLabel = `${t('theme.label')}: ${t(theme.value === 'auto' && !embedded() ? 'theme.autoAlone' : `theme.${theme.value}`)}`;
  const nextTheme = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
  return (
    <>
      <button class="pick" onClick={() => void copyText(shareAddress(), t('share.copied'))}>
        {t('share.button')}
      </button>
      <button class="pick" lang={locale.value === 'zh' ? 'en' : 'zh-CN'} aria-label={t('language.label')} title={t('language.label')} onClick={() => (locale.value = locale.value === 'zh' ? 'en' : 'zh')}>
        {t('language.switch')}
      </button>
      <button class="pick" aria-label={themeLabel} title={themeLabel} onClick={() => (theme.value = nextTheme)}>
        <Icon path={theme.value === 'dark' ? 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.500 6.500z' : theme.value === 'light' ? 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.500M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1' : 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12'} />
      </button>
      <button class="pick" aria-label={t('help.label')} title={`${t('help.label')} (?)`} aria-expanded={helpOpen.value} onClick={() => (helpOpen.value = !helpOpen.value)}>
        ?
      </button>
    </>
  );
}

export function TopBar() {
  const searchable = PANELS.some((entry) => entry.id === 'search');
  return (
    <header class="row top">
      <h1>{graph.value && !graph.value.golden ? t('app.titleBuild') : t('app.title')}</h1>
      <Pickers />
      <span class="grow" />
      {graph.value && searchable && !(narrow.value && panel.value === 'search') ? (
        <input
          id="search-box"
          class="search"
          type="search"
          spellcheck={false}
          autocomplete="off"
          aria-label={t('search.label')}
          title={`${t('search.label')} (/)`}
          placeholder={t(narrow.value ? 'search.label' : 'search.placeholder')}
          value={query.value}
          onInput={(event) => {
            query.value = (event.currentTarget as HTMLInputElement).value;
            if (!query.value || panel.value === 'search') return;
            handedOver.value = narrow.value;
            panel.value = 'search';
          }}
        />
      ) : null}
      <Buttons />
    </header>
  );
}
