import { defineConfig } from 'vite';

// The viewer as one module, for `graph-view export`: a page opened from a disk cannot import further files.
export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../tb_graph_ascend/static/export',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    rollupOptions: {
      input: 'src/index.ts',
      preserveEntrySignatures: 'strict',
      output: { entryFileNames: 'viewer.js', codeSplitting: false },
    },
  },
});
