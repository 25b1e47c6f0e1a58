/** What the panels need from the first moment on: their style sheet, their buttons in the details, and what they keep in step with the graph. */
import { effect } from '@preact/signals';
import { t } from '../../i18n';
import { source } from '../../state/app';
import { followMapping } from '../../state/mapping';
import { followMarks, joinedFromElsewhere } from '../../state/marks';
import { followPicks } from '../../state/picks';
import { followOpening } from '../../state/rematch';
import { followSearch } from '../../state/search';
import { OverlaySource } from '../../wire/overlay';
import { showNote } from '../copy';
import { detailActions } from '../detail_actions';
import { MatchButton } from './matches';
import sheet from './panels.css?inline';
import { ExpectedButton } from './triage';

const JOINED_TIME = 6000; // milliseconds

/** Call once, after the source is set and before a graph is opened. */
export function followPanels(): void {
  const style = new CSSStyleSheet();
  style.replaceSync(sheet);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, style];
  detailActions.push(MatchButton, ExpectedButton);
  if (!source.value) return;
  const overlay = new OverlaySource(source.value);
  source.value = overlay;
  followOpening(overlay);
  followMarks();
  followMapping();
  followPicks();
  followSearch();
  let told = 0;
  effect(() => {
    if (joinedFromElsewhere.value === told) return; // only the language is another one
    told = joinedFromElsewhere.value;
    showNote(t('matches.joined'), JOINED_TIME);
  });
}
