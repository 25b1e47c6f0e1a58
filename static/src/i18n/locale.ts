/** The language of the page, and which one it starts in. */
import { signal } from '@preact/signals';
import { keptInTab } from '../host/storage';

export type Locale = 'en' | 'zh';

/** A remembered choice first (this tab's, else the last one made in any), then the browser's language. */
function browserLocale(): Locale {
  const stored = keptInTab('locale');
  if (stored === 'en' || stored === 'zh') return stored;
  return globalThis.navigator?.language?.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

export const locale = signal<Locale>(browserLocale());

/** The language of dates: the viewer's, in the way of the country that the browser knows for it. */
export function languageTag(language: Locale, wanted: readonly string[] = globalThis.navigator?.languages ?? []): string {
  return wanted.find((tag) => tag.toLowerCase().split('-')[0] === language) ?? (language === 'zh' ? 'zh-CN' : 'en');
}
