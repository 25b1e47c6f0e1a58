/** Pickers for run, step, rank, micro step and colour; search; share, language, theme, help. */
import { availableModes, isMetric, type ColourMode } from '../core/colouring';
import { metricLabel } from '../core/metrics';
import { shortenMiddle } from '../core/names';
import { t, type TextKey } from '../i18n';
import { colouring, graph, chosen, locale, microStep, panel, query, runs, theme } from '../state/app';
import { select } from '../state/actions';
import { metricNames } from '../state/metrics';
import { openGraph } from '../state/open';
import { embedded, shareAddress } from '../host/tensorboard';
import { selection } from '../state/app';
import { copyText } from './copy';
import { helpOpen } from './help';
import { Icon } from './icon';
import { PANELS } from './panels';

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly disabled?: boolean;
}

function Picker({ label, value, choices, choose }: { readonly label: string; readonly value: string; readonly choices: readonly Choice[]; readonly choose: (value: string) => void }) {
  const current = choices.find((item) => item.value === value);
  return (
    <label class="pick">
      <span>{label}</span>
      {/* The select lies over its own text, so that the picker is as wide as what is chosen and not as the longest choice. */}
      <b title={current?.label ?? value}>{shortenMiddle(current?.label ?? value, 34)}</b>
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

function Pickers() {
  const key = chosen.value;
  const list = runs.value?.runs ?? [];
  if (!key) return null;
  const run = list.find((item) => item.run === key.run);
  const graphs = run?.graphs ?? [];
  const steps = [...new Set(graphs.map((item) => item.step))].sort((a, b) => a - b);
  const ranks = graphs.filter((item) => item.step === key.step).sort((a, b) => a.rank - b.rank);
  const open = (step: number, rank: number): void => {
    // The same rank where that step has it.
    const inStep = graphs.filter((item) => item.step === step && !item.error);
    const found = inStep.find((item) => item.rank === rank) ?? inStep[0];
    if (found) void openGraph({ run: key.run, step, rank: found.rank });
  };
  const openRun = (name: string): void => {
    const first = list.find((item) => item.run === name)?.graphs.find((item) => !item.error);
    if (first) void openGraph({ run: name, step: first.step, rank: first.rank });
  };
  const micro = graph.value?.summary.micro_steps ?? 1;
  return (
    <>
      <Picker
        label={t('pick.run')}
        value={key.run}
        choices={list.length > 0 ? list.map((item) => ({ value: item.run, label: item.run, disabled: item.graphs.every((one) => one.error) })) : [{ value: key.run, label: key.run }]}
        choose={openRun}
      />
      <Picker label={t('pick.step')} value={String(key.step)} choices={(steps.length > 0 ? steps : [key.step]).map((step) => ({ value: String(step), label: String(step) }))} choose={(text) => open(Number(text), key.rank)} />
      <Picker
        label={t('pick.rank')}
        value={String(key.rank)}
        choices={ranks.length > 0 ? ranks.map((item) => ({ value: String(item.rank), label: String(item.rank), disabled: Boolean(item.error) })) : [{ value: String(key.rank), label: String(key.rank) }]}
        choose={(text) => open(key.step, Number(text))}
      />
      {micro > 1 ? (
        <Picker
          label={t('pick.micro')}
          value={String(microStep.value)}
          choices={[{ value: '-1', label: t('pick.all') }, ...Array.from({ length: micro }, (_, k) => ({ value: String(k), label: String(k) }))]}
          choose={(text) => {
            microStep.value = Number(text);
            if (selection.value) select(selection.value, { centre: true });
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
      {graph.value && searchable ? (
        <input
          id="search-box"
          class="search"
          type="search"
          spellcheck={false}
          autocomplete="off"
          aria-label={t('search.label')}
          title={`${t('search.label')} (/)`}
          placeholder={t('search.placeholder')}
          value={query.value}
          onInput={(event) => {
            query.value = (event.currentTarget as HTMLInputElement).value;
            if (query.value && panel.value !== 'search') panel.value = 'search';
          }}
        />
      ) : null}
      <Buttons />
    </header>
  );
}
