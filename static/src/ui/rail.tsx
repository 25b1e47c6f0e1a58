/** The column of icons that choose a panel. */
import { t } from '../i18n';
import { panel } from '../state/app';
import { Icon } from './icon';
import { offered } from './panels';

export function Rail() {
  return (
    <nav class="rail" aria-label={t('panel.rail')}>
      {offered().map((entry) => (
        <button
          key={entry.id}
          class={panel.value === entry.id ? 'on' : ''}
          aria-pressed={panel.value === entry.id}
          aria-label={t(entry.title)}
          title={entry.key ? `${t(entry.title)} (${entry.key})` : t(entry.title)}
          onClick={() => (panel.value = panel.value === entry.id ? null : entry.id)}
        >
          <Icon path={entry.icon} />
        </button>
      ))}
    </nav>
  );
}
