/** The list of keys and of signs: a panel in the corner, not a modal window. */
import { signal } from '@preact/signals';
import { t, type TextKey } from '../i18n';
import { classMeaning, className } from '../i18n/class_names';
import { graph } from '../state/app';
import { causes } from '../state/view';
import { offered } from './panels';
import { Sign } from './sign';

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

/** What the signs of the graphs and lists say, in the order of the legend. */
function Signs() {
  const classes = (causes.value?.classes ?? []).filter((item) => classMeaning(item) !== '');
  if (classes.length === 0 || !graph.value?.golden) return null;
  return (
    <>
      <h2>{t('meaning.title')}</h2>
      <dl class="signs">
        {classes.map((item) => (
          <div key={item.id}>
            <dt>
              <Sign item={item} /> {className(item, 'cause')}
            </dt>
            <dd>{classMeaning(item)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

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
      <Signs />
      <button onClick={() => (helpOpen.value = false)}>{t('help.close')}</button>
    </section>
  );
}
