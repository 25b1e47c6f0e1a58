/** Sharing: the address of what is on the screen, the whole comparison as one file, a picture of the graphs. */
import { signal } from '@preact/signals';
import { shareAddress } from '../../host/address';
import { local, t } from '../../i18n';
import { colouring, exported, graph, microStep, names, panel, query, runs, selection, threshold } from '../../state/app';
import { problemText } from '../../state/open';
import { savedView } from '../../state/url';
import { graphFileName } from '../../core/file_name';
import { sideOf, type Graph } from '../../core/types';
import { copyText, showNote } from '../copy';
import { exportedPage } from '../../wire/http';
import { download } from '../download';
import { pictureAsPng, pictureAsSvg } from '../picture';

const busy = signal(false);
const pasted = signal(0); // only makes the address be read again

function nameOfView(open: Graph, ending: string): string {
  const ref = selection.value;
  const side = ref ? sideOf(open, ref.side) : null;
  return graphFileName(open.key, ending, side && ref && names.value ? names.value.trail(side, ref.node).slice(-2).join('.') : '');
}

async function savePage(): Promise<void> {
  const open = graph.value;
  if (!open) return;
  busy.value = true;
  try {
    download(graphFileName(open.key, '.html'), await exportedPage(open.key, savedView()));
  } catch (problem) {
    showNote(local(problemText(problem)));
  } finally {
    busy.value = false;
  }
}

/** What an exported page holds, and what it cannot do. */
function Inside() {
  const run = runs.value?.runs[0];
  const graphs = run?.graphs ?? [];
  const list = (numbers: readonly number[]): string => [...new Set(numbers)].sort((a, b) => a - b).join(t('list.comma'));
  return (
    <section class="block">
      <h3>{t('share.inside')}</h3>
      <p class="dim">
        <b>{run?.run}</b>: {t('share.insideGraphs', { steps: list(graphs.map((item) => item.step)), ranks: list(graphs.map((item) => item.rank)) })}
      </p>
      <p class="dim">{t('share.insideAll')}</p>
      <p class="dim">{t('share.outside')}</p>
    </section>
  );
}

export function SharePanel() {
  const open = graph.value;
  // The address is written a moment after what it says; whatever it says makes this be drawn again.
  void [selection.value, colouring.value, microStep.value, threshold.value, query.value, panel.value, pasted.value];
  if (!open) return null;
  setTimeout(() => {
    const field = document.getElementById('share-address') as HTMLTextAreaElement | null;
    if (field && field.value !== shareAddress()) field.value = shareAddress();
  }, 260);
  return (
    <div class="side-panel scrolls" tabIndex={0} role="region" aria-label={t('share.title')}>
      <h2>{t('share.title')}</h2>
      <section class="block">
        <h3>{t('share.address')}</h3>
        <p class="dim">{t(exported.value ? 'share.addressHere' : 'share.addressHow')}</p>
        <textarea id="share-address" class="address" readOnly rows={4} aria-label={t('share.address')} onFocus={(event) => (event.currentTarget as HTMLTextAreaElement).select()}>
          {shareAddress()}
        </textarea>
        <div class="buttons">
          <button class="action primary" onClick={() => void copyText(shareAddress(), t('share.copied'))}>
            {t('share.copy')}
          </button>
        </div>
      </section>
      {exported.value ? (
        <Inside />
      ) : (
        <section class="block">
          <h3>{t('share.page')}</h3>
          <p class="dim">{t('share.pageHow')}</p>
          <div class="buttons">
            <button class="action" disabled={busy.value} onClick={() => void savePage()}>
              {busy.value ? t('share.working') : t('share.savePage')}
            </button>
          </div>
        </section>
      )}
      <section class="block">
        <h3>{t('share.picture')}</h3>
        <div class="buttons">
          <button class="action" onClick={() => void pictureAsPng().then((blob) => download(nameOfView(open, '.png'), blob), (problem: unknown) => showNote(local(problemText(problem))))}>
            PNG
          </button>
          <button class="action" onClick={() => download(nameOfView(open, '.svg'), pictureAsSvg(), 'image/svg+xml')}>
            SVG
          </button>
        </div>
      </section>
    </div>
  );
}
