/** Who writes, and where it is kept: below the list of matches and below the list of marks. */
import type { Graph } from '../../core/types';
import { local, t } from '../../i18n';
import { author, failure, kept, saving, setAuthor } from '../../state/marks';

export function AuthorField() {
  return (
    <label class="field">
      {t('matches.author')}
      <input type="text" value={author.value} maxLength={80} onInput={(event) => setAuthor((event.currentTarget as HTMLInputElement).value)} />
    </label>
  );
}

export function WhereKept({ open }: { readonly open: Graph }) {
  return (
    <>
      <p class="dim" role="status">
        {saving.value ? t('matches.saving') : kept.value === 'file' ? t('matches.keptFile', { file: `rank${open.key.rank}.matches.yaml` }) : kept.value === 'browser' ? t('matches.keptBrowser') : ''}
      </p>
      {failure.value ? (
        <p class="problem" role="alert">
          {local(failure.value)}
        </p>
      ) : null}
    </>
  );
}
