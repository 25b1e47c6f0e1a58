/** Matching by hand: what is picked on each side, what to do with it, and the list of what was done. */
import { withoutMatch, type KeptMapping, type MatchEntry, type RelationWord, type TriageEntry } from '../../core/marks';
import { directionOf, shortenMiddle } from '../../core/names';
import { type Graph, type SideName } from '../../core/types';
import { local, t, type TextKey } from '../../i18n';
import { exported, graph, panel, panelWidth, selectedPair, selection } from '../../state/app';
import { change, foreign, history, marks, nodeOfName, redo, undo } from '../../state/marks';
import { adding, clearPicks, dissolved, matchPicked, obstacle, picks, relation, takeApart, togglePick, withInside, withTwins } from '../../state/picks';
import { edit, proposeRules } from '../../state/mapping';
import { answer, inForce, problem, working } from '../../state/rematch';
import { select } from '../../state/actions';
import { showNote } from '../copy';
import { problemText } from '../../state/open';
import { AlsoFor } from './also_for';
import { AuthorField, DownloadMarks, WhereKept, when } from './kept';
import { NodeLink } from './node_link';
import { TakeOver } from './take_over';

const RELATIONS = ['concat', 'sum', 'stack'] as const;

function Picked({ open, side }: { readonly open: Graph; readonly side: SideName }) {
  const nodes = picks.value[side];
  return (
    <div class="picked">
      <h3>{t(`side.${side}`)}</h3>
      {nodes.length === 0 ? <p class="dim">{t('matches.pickHint')}</p> : null}
      {nodes.map((node) => (
        <div key={node} class="picked-node">
          <NodeLink open={open} to={{ side, node }} length={Math.floor(panelWidth.value / 7.4)} />
          <button class="tool small" aria-label={t('matches.unpick')} title={t('matches.unpick')} onClick={() => togglePick({ side, node })}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

function Check({ label, on, set }: { readonly label: string; readonly on: boolean; readonly set: (on: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={on} onChange={(event) => set((event.currentTarget as HTMLInputElement).checked)} /> {label}
    </label>
  );
}

function Picking({ open }: { readonly open: Graph }) {
  const group = picks.value.target.length > 1 || picks.value.golden.length > 1;
  const lost = dissolved.value;
  const ref = selection.value;
  return (
    <section class="block">
      <Picked open={open} side="target" />
      <Picked open={open} side="golden" />
      <div class="options">
        <Check label={t('matches.adding')} on={adding.value} set={(on) => (adding.value = on)} />
        <Check label={t('matches.twins')} on={withTwins.value} set={(on) => (withTwins.value = on)} />
        {group ? (
          <label class="check">
            {t('matches.relation')}{' '}
            <select value={relation.value} onChange={(event) => (relation.value = (event.currentTarget as HTMLSelectElement).value as RelationWord)}>
              {RELATIONS.map((word) => (
                <option key={word} value={word}>
                  {t(`matches.relation.${word}`)}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <Check label={t('matches.inside')} on={withInside.value} set={(on) => (withInside.value = on)} />
        )}
      </div>
      {lost.length > 0 && obstacle.value === null ? (
        <p class="dim">
          {t('matches.dissolves')}{' '}
          {lost.slice(0, 3).map((item) => (
            <NodeLink key={`${item.side}${item.node}`} open={open} to={item} length={28} />
          ))}
          {lost.length > 3 ? ` +${lost.length - 3}` : ''}
        </p>
      ) : null}
      <div class="buttons">
        <button class="action primary" disabled={obstacle.value !== null || working.value} onClick={matchPicked}>
          {t('matches.match')}
        </button>
        <button class="action" disabled={selectedPair.value < 0 || working.value} onClick={() => ref && takeApart(ref)}>
          {t('matches.apart')}
        </button>
        <button class="action" disabled={picks.value.target.length + picks.value.golden.length === 0} onClick={clearPicks}>
          {t('matches.clear')}
        </button>
      </div>
      {obstacle.value ? <p class="dim">{t(`matches.obstacle.${obstacle.value}`)}</p> : null}
    </section>
  );
}

function Names({ open, side, list, length }: { readonly open: Graph; readonly side: SideName; readonly list: readonly string[]; readonly length: number }) {
  return (
    <>
      {list.map((name) => {
        const node = nodeOfName.value[side].get(name);
        return node !== undefined ? (
          <NodeLink key={name} open={open} to={{ side, node }} length={length} />
        ) : (
          <span key={name} class="dim" title={`${name}\n${t('matches.notHere')}`}>
            {shortenMiddle(name, length)} <small>({t('matches.notHere')})</small>
          </span>
        );
      })}
    </>
  );
}

const MOST_SHOWN = 200;

/** Forward or backward, by the first name that is in the graph. */
function directionWord(open: Graph, entry: MatchEntry): string {
  const node = entry.target.length > 0 ? nodeOfName.value.target.get(entry.target[0]) : undefined;
  return node !== undefined ? t(`direction.${directionOf(open.target, node)}`) : '';
}

function Entry({ open, entry }: { readonly open: Graph; readonly entry: MatchEntry }) {
  const length = Math.max(20, Math.floor(panelWidth.value / 7.6));
  return (
    <li class="entry-row">
      <span class="entry-sign" title={t(`matches.action.${entry.action}`)} aria-label={t(`matches.action.${entry.action}`)}>
        {entry.action === 'match' ? '↔' : '≠'}
      </span>
      <span class="entry-words">
        <Names open={open} side="target" list={entry.target} length={length} />
        <Names open={open} side="golden" list={entry.golden} length={length} />
        <small class="dim">{[directionWord(open, entry), entry.relation !== 'same' && entry.action === 'match' ? t(`matches.relation.${entry.relation}` as TextKey) : '', when(entry)].filter(Boolean).join(' · ')}</small>
      </span>
      <button class="tool small" aria-label={t('matches.remove')} title={t('matches.remove')} onClick={() => change(withoutMatch(marks.value, entry))}>
        ×
      </button>
    </li>
  );
}

async function toRules(): Promise<void> {
  try {
    const text = await proposeRules('manual');
    edit(text, 'from_matches.yaml');
    panel.value = 'mapping';
    showNote(t('matches.asRulesDone'));
  } catch (failed) {
    showNote(local(problemText(failed)));
  }
}

function foreignWords(entry: MatchEntry | TriageEntry | KeptMapping): string {
  if ('nodes' in entry) return `${entry.nodes} · ${t(`triage.verdict.${entry.verdict}`)} · ${when(entry)}`;
  if ('text' in entry) return `${t('mapping.inForce')} ${entry.name} · ${when(entry)}`;
  return `${entry.target.join(' + ')} ${entry.action === 'match' ? '↔' : '≠'} ${entry.golden.join(' + ')} · ${when(entry)}`;
}

/** What somebody else changed meanwhile. */
function Foreign() {
  if (foreign.value.length === 0) return null;
  return (
    <div class="notice-box" role="status">
      <b>{t('matches.foreign', { count: foreign.value.length })}</b>
      <ul>
        {foreign.value.slice(0, 5).map((entry, i) => (
          <li key={i}>{foreignWords(entry)}</li>
        ))}
      </ul>
      <button class="action" onClick={() => (foreign.value = [])}>
        {t('matches.understood')}
      </button>
    </div>
  );
}

function List({ open }: { readonly open: Graph }) {
  const list = marks.value.matches;
  return (
    <section class="block match-list">
      <h3>
        {t('matches.list')} <span class="count dim">{list.length}</span>
        <span class="grow" />
        <button class="tool small" disabled={history.value.past.length === 0} aria-label={t('matches.undo')} title={`${t('matches.undo')} (Ctrl+Z)`} onClick={undo}>
          ↶
        </button>
        <button class="tool small" disabled={history.value.future.length === 0} aria-label={t('matches.redo')} title={`${t('matches.redo')} (Ctrl+Y)`} onClick={redo}>
          ↷
        </button>
      </h3>
      {list.length === 0 ? <p class="dim">{t('matches.empty')}</p> : null}
      <ul class="entries">
        {list
          .slice(-MOST_SHOWN)
          .reverse()
          .map((entry) => (
            <Entry key={JSON.stringify([entry.action, entry.target, entry.golden])} open={open} entry={entry} />
          ))}
      </ul>
      {list.length > MOST_SHOWN ? <p class="dim">{t('matches.more', { count: list.length - MOST_SHOWN })}</p> : null}
      {list.length > 0 && !exported.value ? <p class="dim">{t('matches.effect', { now: open.pairs.count, before: answer.value?.counts.before ?? open.pairs.count })}</p> : null}
    </section>
  );
}

export function MatchesPanel() {
  const open = graph.value;
  if (!open?.golden) return null;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!(event.ctrlKey || event.metaKey) || (event.target as HTMLElement).tagName === 'INPUT') return;
    const key = event.key.toLowerCase();
    if (key === 'z' && !event.shiftKey) undo();
    else if (key === 'y' || (key === 'z' && event.shiftKey)) redo();
    else return;
    event.preventDefault();
  };
  return (
    <div class="side-panel scrolls match-panel" onKeyDown={onKeyDown} tabIndex={0} role="region" aria-label={t('matches.title')}>
      <h2>
        {t('matches.title')}
        {marks.value.matches.length > 0 ? (
          <button class="link to-list" onClick={(event) => event.currentTarget.closest('.side-panel')?.querySelector('.match-list')?.scrollIntoView()}>
            {t('matches.list')} {marks.value.matches.length} ↓
          </button>
        ) : null}
      </h2>
      <p class="dim how">{t('matches.how')}</p>
      {exported.value ? <p class="dim">{t('matches.exported')}</p> : null}
      <Picking open={open} />
      <AlsoFor />
      {working.value ? <p role="status">{t('matches.working')}</p> : null}
      {problem.value ? (
        <p class="problem" role="alert">
          {local(problem.value)}
        </p>
      ) : null}
      <Foreign />
      <List open={open} />
      <section class="block">
        <AuthorField />
        <WhereKept open={open} />
        <div class="buttons">
          <DownloadMarks open={open} />
          {exported.value ? null : (
            <button class="action" disabled={inForce.value.matches.length === 0} onClick={() => void toRules()}>
              {t('matches.asRules')}
            </button>
          )}
          <TakeOver />
        </div>
      </section>
    </div>
  );
}

/** Button in the head of the details: opens this panel with the selection picked. */
export function MatchButton() {
  if (!graph.value?.golden) return null;
  return (
    <button
      class="tag"
      onClick={() => {
        panel.value = 'matches';
        if (selection.value) select(selection.value);
      }}
    >
      {t('matches.button')}
    </button>
  );
}
