/** Triage memory: nodes that are expected to differ or of no interest, with a note; hidden from lists and counts by a switch. */
import { signal } from '@preact/signals';
import { formatCount } from '../../core/format';
import { withoutTriage, withTriage, type TriageEntry } from '../../core/marks';
import { nodeName, shortenMiddle } from '../../core/names';
import { patternChoices } from '../../core/triage';
import { sideOf, type Graph } from '../../core/types';
import { t } from '../../i18n';
import { expectedGolden, expectedTarget, exported, graph, hideExpected, panel, query, selection } from '../../state/app';
import { change, marks, nodesOfMark, signature } from '../../state/marks';
import { AlsoFor } from './also_for';
import { AuthorField, DownloadMarks, WhereKept } from './kept';
import { TakeOver } from './take_over';

const verdict = signal<TriageEntry['verdict']>('expected');
const note = signal('');
const pattern = signal<string | null>(null);
const VERDICTS = ['expected', 'ignored'] as const;

function counted(open: Graph, entry: Pick<TriageEntry, 'nodes' | 'side'>): number {
  return nodesOfMark(open, entry.side, entry).length;
}

function MarkForm({ open }: { readonly open: Graph }) {
  const ref = selection.value;
  const side = ref ? sideOf(open, ref.side) : null;
  if (!ref || !side) return <p class="dim">{t('triage.select')}</p>;
  const choices = patternChoices(nodeName(open, side, ref.node));
  const chosen = pattern.value !== null && choices.some((choice) => choice.pattern === pattern.value) ? pattern.value : choices[0].pattern;
  const mark = (event: Event): void => {
    event.preventDefault();
    change(withTriage(marks.value, { nodes: chosen, side: ref.side, verdict: verdict.value, ...(note.value.trim() ? { note: note.value.trim() } : {}), ...signature() }));
    note.value = '';
  };
  return (
    <form class="rule-form" onSubmit={mark}>
      <fieldset>
        <legend>{t('triage.what')}</legend>
        {choices.map((choice) => (
          <label key={choice.id} class="check">
            <input type="radio" name="triage-pattern" checked={choice.pattern === chosen} onChange={() => (pattern.value = choice.pattern)} />{' '}
            <span>
              {t(`triage.choice.${choice.id}`)} <small class="dim">({formatCount(counted(open, { nodes: choice.pattern, side: ref.side }))})</small>
              {choice.pattern === chosen ? (
                <>
                  <br />
                  <code title={choice.pattern}>{shortenMiddle(choice.pattern, 160)}</code>
                </>
              ) : null}
            </span>
          </label>
        ))}
      </fieldset>
      <div class="options">
        {VERDICTS.map((word) => (
          <label key={word} class="check" title={t(`triage.explain.${word}`)}>
            <input type="radio" name="triage-verdict" checked={verdict.value === word} onChange={() => (verdict.value = word)} /> {t(`triage.verdict.${word}`)}
          </label>
        ))}
      </div>
      <label class="field">
        {t('triage.note')}
        <input type="text" value={note.value} maxLength={500} placeholder={t('triage.noteHint')} onInput={(event) => (note.value = (event.currentTarget as HTMLInputElement).value)} />
      </label>
      <div class="buttons">
        <button class="action primary" type="submit">
          {t('triage.mark')}
        </button>
      </div>
    </form>
  );
}

function Entry({ open, entry }: { readonly open: Graph; readonly entry: TriageEntry }) {
  const show = (): void => {
    query.value = 'is:expected';
    panel.value = 'search';
  };
  return (
    <li class="entry-row">
      <span class="entry-sign" title={t(`triage.verdict.${entry.verdict}`)}>
        {entry.verdict === 'expected' ? '✓' : '–'}
      </span>
      <span class="entry-words">
        <button class="link node-link" title={entry.nodes} onClick={show}>
          {shortenMiddle(entry.nodes, 160)}
        </button>
        {entry.note ? <span>{entry.note}</span> : null}
        <small class="dim">{[t(`triage.verdict.${entry.verdict}`), t(`side.${entry.side}`), t('triage.nodes', { count: formatCount(counted(open, entry)) }), entry.author ?? ''].filter(Boolean).join(' · ')}</small>
      </span>
      <button class="tool small" aria-label={t('matches.remove')} title={t('matches.remove')} onClick={() => change(withoutTriage(marks.value, entry))}>
        ×
      </button>
    </li>
  );
}

export function TriagePanel() {
  const open = graph.value;
  if (!open) return null;
  const list = marks.value.triage;
  const hidden = expectedTarget.value.size + expectedGolden.value.size;
  return (
    <div class="side-panel scrolls" tabIndex={0} role="region" aria-label={t('triage.title')}>
      <h2>{t('triage.title')}</h2>
      <p class="dim">{t(exported.value ? 'triage.howHere' : 'triage.how')}</p>
      <section class="block">
        <label class="check">
          <input type="checkbox" checked={hideExpected.value} onChange={(event) => (hideExpected.value = (event.currentTarget as HTMLInputElement).checked)} /> {hidden > 0 ? t('triage.hide', { count: formatCount(hidden) }) : t('triage.hideNone')}
        </label>
      </section>
      <section class="block">
        <MarkForm open={open} />
      </section>
      <AlsoFor />
      <section class="block">
        <h3>
          {t('triage.list')} <span class="count dim">{list.length}</span>
        </h3>
        {list.length === 0 ? <p class="dim">{t('triage.empty')}</p> : null}
        <ul class="entries">
          {list
            .slice()
            .reverse()
            .map((entry) => (
              <Entry key={`${entry.side}|${entry.nodes}`} open={open} entry={entry} />
            ))}
        </ul>
      </section>
      <section class="block">
        <AuthorField />
        <div class="buttons">
          <DownloadMarks open={open} />
          <TakeOver />
        </div>
        <WhereKept open={open} />
      </section>
    </div>
  );
}

/** Button in the head of the details. */
export function ExpectedButton() {
  if (!graph.value) return null;
  return (
    <button class="tag" onClick={() => (panel.value = 'triage')}>
      {t('triage.button')}
    </button>
  );
}
