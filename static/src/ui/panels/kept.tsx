/** Who writes, and where it is kept: below the list of matches and below the list of marks. */
import { graphFileName } from '../../core/file_name';
import type { Graph } from '../../core/types';
import { equalMarks, marksAsYaml, NO_MARKS } from '../../core/marks';
import { local, t } from '../../i18n';
import { languageTag, locale } from '../../i18n/locale';
import { exported } from '../../state/app';
import { author, failure, kept, marks, saving, setAuthor } from '../../state/marks';
import { download } from '../download';

/** Who made an entry, and when. */
export function when(entry: { readonly author?: string; readonly time?: string }): string {
  const time = entry.time ? new Date(entry.time) : null;
  const text = time && !Number.isNaN(time.getTime()) ? time.toLocaleString(languageTag(locale.value)) : (entry.time ?? '');
  return [entry.author ?? '', text].filter(Boolean).join(' · ');
}

export function AuthorField() {
  return (
    <label class="field">
      {t('matches.author')}
      <input type="text" value={author.value} maxLength={80} onInput={(event) => setAuthor((event.currentTarget as HTMLInputElement).value)} />
    </label>
  );
}

function place(open: Graph): string {
  if (saving.value) return t('matches.saving');
  if (kept.value === 'file') return t('matches.keptFile', { file: `rank${open.key.rank}.matches.yaml` });
  if (kept.value === 'gone') return t('matches.gone');
  if (kept.value === 'waiting') return t('matches.waiting');
  if (kept.value === 'unknown') return '';
  return t(exported.value ? 'matches.keptHere' : 'matches.keptBrowser');
}

/** Matches and marks are one file: both panels hand it out. */
export function DownloadMarks({ open }: { readonly open: Graph }) {
  const nothing = equalMarks(marks.value, NO_MARKS);
  return (
    <button class="action" disabled={nothing} onClick={() => download(graphFileName(open.key, '.matches.yaml'), marksAsYaml(marks.value))}>
      {t('matches.download')}
    </button>
  );
}

export function WhereKept({ open }: { readonly open: Graph }) {
  return (
    <>
      <p class="dim" role="status">
        {place(open)}
      </p>
      {failure.value ? (
        <p class="problem" role="alert">
          {local(failure.value)}
        </p>
      ) : null}
    </>
  );
}
