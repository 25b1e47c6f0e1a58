import { describe, expect, it } from 'vitest';
import { languageTag } from '../src/i18n/locale';

describe('dates', () => {
  it('are in the language of the viewer, whatever the browser speaks', () => {
    expect(languageTag('zh', ['en-US', 'en'])).toBe('zh-CN');
    expect(languageTag('en', ['zh-CN'])).toBe('en');
    expect(new Date(0).toLocaleString(languageTag('zh', ['en-US']), { timeZone: 'UTC' })).toMatch(/^1970\/1\/1/);
  });

  it('are written as in the country that the browser names for that language', () => {
    expect(languageTag('en', ['zh-CN', 'en-GB', 'en'])).toBe('en-GB');
    expect(languageTag('zh', ['zh-TW', 'en'])).toBe('zh-TW');
  });
});
