/** Who writes, and where it is kept: below the list of matches and below the list of marks. */
import type { Graph } from '../../core/types';
import { marksAsYaml } from '../../core/marks';
import { local, t } from '../../i18n';
import { exported } from '../../state/app';
import { author, failure, kept, marks, saving, setAuthor } from '../../state/marks';
import { download, fileName } from '../download';

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
  if (kept.value === 'unknown') return '';
  return t(exported.value ? 'matches.keptHere' : 'matches.keptBrowser');
}

/** Matches and marks are one file: both panels hand it out. */
export function DownloadMarks({ open }: { readonly open: Graph }) {
  const { matches, triage } = marks.value;
  return (
    <button class="action" disabled={matches.length + triage.length === 0} onClick={() => download(`${fileName(open.key.run)}_step${open.key.step}_rank${open.key.rank}.matches.yaml`, marksAsYaml(marks.value))}>
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
