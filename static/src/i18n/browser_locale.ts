/** The language that a page starts in. Apart from the texts, so that it is known before the viewer's own script is there. */
import { keptInTab } from '../host/storage';

export type Locale = 'en' | 'zh';

/** A remembered choice first (this tab's, else the last one made in any), then the browser's language. */
export function browserLocale(): Locale {
  const stored = keptInTab('locale');
  if (stored === 'en' || stored === 'zh') return stored;
  return globalThis.navigator?.language?.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}
