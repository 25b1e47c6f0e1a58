/** Pairs that structure suggests without being sure; a person accepts or rejects them. */
import { withMatches, type MatchEntry } from '../../core/marks';
import { nodeName } from '../../core/names';
import { RELATION_WORDS, type Graph } from '../../core/types';
import { say, t } from '../../i18n';
import { change, marks, signature } from '../../state/marks';
import { working } from '../../state/rematch';
import { saidOf } from '../../wire/said';
import { PairLine } from './node_link';

const MOST = 60;

export function Proposals({ open }: { readonly open: Graph }) {
  const other = open.golden;
  const list = open.summary.proposals;
  const answerTo = (numbers: readonly number[], action: MatchEntry['action']): void => {
    if (!other) return;
    const entries = numbers.map((number): MatchEntry => {
      const item = list[number];
      return {
        action,
        target: item.target_nodes.map((node) => nodeName(open, open.target, node)),
        golden: item.golden_nodes.map((node) => nodeName(open, other, node)),
        relation: item.target_nodes.length + item.golden_nodes.length === 2 ? 'same' : RELATION_WORDS[item.relation] === 'same' ? 'concat' : (RELATION_WORDS[item.relation] ?? 'concat'),
        ...signature(),
      };
    });
    change(withMatches(marks.value, entries));
  };
  if (list.length === 0) return <p class="dim">{t('mapping.noProposals')}</p>;
  return (
    <>
      <p class="dim proposals-how">{t('mapping.proposalsHow')}</p>
      <div class="buttons">
        <button class="action" title={t('mapping.proposalsHow')} disabled={working.value} onClick={() => answerTo(list.map((_, i) => i), 'match')}>
          {t('mapping.acceptAll', { count: list.length })}
        </button>
      </div>
      <ul class="entries">
        {list.slice(0, MOST).map((item, i) => (
          <li key={i} class="entry-row">
            <span class="entry-sign number">{item.confidence.toFixed(2)}</span>
            <span class="entry-words">
              <PairLine open={open} target={item.target_nodes} golden={item.golden_nodes} length={30} />
              <small class="dim">{say(saidOf(item.evidence_message, item.evidence))}</small>
            </span>
            <span class="answers">
              <button class="action small" disabled={working.value} onClick={() => answerTo([i], 'match')}>
                {t('mapping.accept')}
              </button>
              <button class="action small" disabled={working.value} onClick={() => answerTo([i], 'unmatch')}>
                {t('mapping.reject')}
              </button>
            </span>
          </li>
        ))}
      </ul>
      {list.length > MOST ? <p class="dim">{t('matches.more', { count: list.length - MOST })}</p> : null}
    </>
  );
}
