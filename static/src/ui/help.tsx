/** The list of keys: a panel in the corner, not a modal window. */
import { signal } from '@preact/signals';
import { t, type TextKey } from '../i18n';
import { offered } from './panels';

export const helpOpen = signal(false);

const KEYS: readonly (readonly [string, TextKey])[] = [
  ['↑ ↓', 'help.arrows'],
  ['← →', 'help.leftRight'],
  ['Enter', 'help.enter'],
  ['X', 'help.across'],
  ['N P', 'help.finding'],
  ['/', 'help.search'],
  ['F', 'help.fit'],
  ['O', 'help.overview'],
  ['Z', 'help.fold'],
  ['Esc', 'help.escape'],
  ['?', 'help.help'],
];

export function Help() {
  if (!helpOpen.value) return null;
  return (
    <section class="help" aria-label={t('help.title')}>
      <h2>{t('help.title')}</h2>
      <dl>
        {[...KEYS, ...offered().flatMap((entry) => (entry.key ? [[entry.key.toUpperCase(), entry.title] as const] : []))].map(([key, text]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
      <p class="dim">{t('help.wheel')}</p>
      <button onClick={() => (helpOpen.value = false)}>{t('help.close')}</button>
    </section>
  );
}
