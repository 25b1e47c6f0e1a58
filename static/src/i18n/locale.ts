/** Which language the viewer starts in. */

export type Locale = 'en' | 'zh';

/** A remembered choice first (this tab's, else the last one made in any), then the browser's language. */
export function browserLocale(): Locale {
  try {
    const stored = globalThis.sessionStorage?.getItem('tb_graph_ascend.locale') ?? globalThis.localStorage?.getItem('tb_graph_ascend.locale');
    if (stored === 'en' || stored === 'zh') return stored;
  } catch {
    // Storage may be forbidden (third-party frames); then the browser's language decides.
  }
  return globalThis.navigator?.language?.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

/** The language of dates: the viewer's, in the way of the country that the browser knows for it. */
export function languageTag(locale: Locale, wanted: readonly string[] = globalThis.navigator?.languages ?? []): string {
  return wanted.find((tag) => tag.toLowerCase().split('-')[0] === locale) ?? (locale === 'zh' ? 'zh-CN' : 'en');
}
