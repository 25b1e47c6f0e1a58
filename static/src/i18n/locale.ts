/** The language of the page, and which one it starts in. */
import { signal } from '@preact/signals';
import { browserLocale, type Locale } from './browser_locale';

export type { Locale };

export const locale = signal<Locale>(browserLocale());

/** The language of dates: the viewer's, in the way of the country that the browser knows for it. */
export function languageTag(language: Locale, wanted: readonly string[] = globalThis.navigator?.languages ?? []): string {
  return wanted.find((tag) => tag.toLowerCase().split('-')[0] === language) ?? (language === 'zh' ? 'zh-CN' : 'en');
}
