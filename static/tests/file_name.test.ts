import { describe, expect, it } from 'vitest';
import { fileName, graphFileName } from '../src/core/file_name';

const key = (run: string) => ({ run, step: 3, rank: 12 });

describe('a file that is handed out', () => {
  it('is called by run, step and rank, and by what is on the picture', () => {
    expect(graphFileName(key('qwen2/compare_20261129223551'), '.html')).toBe('qwen2_compare_20261129223551_step3_rank12.html');
    expect(graphFileName(key('.'), '.html')).toBe('graph_step3_rank12.html');
    expect(graphFileName(key('a'), '.svg', 'layers.2.mlp')).toBe('a_step3_rank12_layers.2.mlp.svg');
  });

  it.each(['<img src=x onerror=alert(1)>', '../../etc/passwd', 'a:b|c?d*e"f', 'CON', 'nul.txt', ' . ', '名'.repeat(300), 'x'.repeat(300), '\u202egnp.exe', '😀'.repeat(100), 'tab\tline\n', 'end.', ''])(
    'has a name that every system takes, whatever the run %j is called',
    (run) => {
      for (const name of [graphFileName(key(run), '.matches.yaml', run), fileName(run, '.yaml'), fileName(run)]) {
        expect(name).toMatch(/^[\p{L}\p{M}\p{N}_-][\p{L}\p{M}\p{N}._~-]*$/u);
        expect(name).not.toMatch(/[. ]$|^(con|nul)(\.|$)/i);
        expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(210);
      }
      expect(graphFileName(key(run), '.html')).toMatch(/_step3_rank12\.html$/);
    },
  );

  it('of two long runs keeps what tells them apart', () => {
    const long = 'very_long_directory/'.repeat(20);
    expect(graphFileName(key(`${long}compare_1`), '.png')).not.toBe(graphFileName(key(`${long}compare_2`), '.png'));
  });
});
