/** The rooms of src import one way only, and no file imports in a circle (docs/front_end.md). */
import { describe, expect, it } from 'vitest';

const FILES: Readonly<Record<string, string>> = import.meta.glob('../src/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true });
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  core: ['types of wire'],
  wire: ['core'],
  host: ['types of core'],
  i18n: ['types of core', 'types of wire', 'host'],
  state: ['core', 'wire', 'host', 'i18n'],
  paint: ['core', 'state', 'i18n'],
  ui: ['core', 'wire', 'host', 'i18n', 'state', 'paint'],
};
const IMPORT = /^(?:import|export)\s+(type\s)?[^;]*?from '(\.[^']*)'/gm;

function resolved(from: string, to: string): string {
  const parts = from.split('/').slice(0, -1);
  for (const part of to.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  const path = parts.join('/').replace(/\.js$/, '');
  return [path, `${path}.ts`, `${path}.tsx`, `${path}/index.ts`].find((name) => name in FILES) ?? path;
}

const own = Object.entries(FILES).map(([file, text]): [string, string] => [file.replace('../src/', ''), text]);
const imports = own.flatMap(([file, text]) =>
  [...text.matchAll(IMPORT)].map(([, type, to]) => ({ file, to: resolved(`../src/${file}`, to).replace('../src/', ''), type: type !== undefined })),
);

describe('rooms', () => {
  it('has a room for every file but those that start the viewer', () => {
    expect(imports.length).toBeGreaterThan(300);
    expect([...new Set(own.map(([file]) => file.split('/')[0]))].filter((room) => !room.includes('.')).sort()).toEqual(Object.keys(ROOMS).sort());
  });

  it('imports one way only', () => {
    const room = (path: string): string => path.split('/')[0];
    const wrong = imports.filter(({ file, to, type }) => {
      const [from, into] = [room(file), room(to)];
      return from in ROOMS && from !== into && !ROOMS[from].includes(into) && !(type && ROOMS[from].includes(`types of ${into}`));
    });
    expect(wrong).toEqual([]);
  });

  it('has no file that imports itself through others', () => {
    const next = new Map<string, string[]>();
    for (const { file, to, type } of imports) if (!type) next.set(file, [...(next.get(file) ?? []), to]);
    const done = new Set<string>();
    const circles: string[][] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file]);
      if (done.has(file) || path.includes(file)) return;
      for (const to of next.get(file) ?? []) visit(to, [...path, file]);
      done.add(file);
    };
    for (const file of next.keys()) visit(file, []);
    expect(circles).toEqual([]);
  });
});
