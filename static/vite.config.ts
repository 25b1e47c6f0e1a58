import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** Writes the viewer's address into index.js, which fetches it before it is imported: an import alone would also start it. */
const viewerAddress: Plugin = {
  name: 'viewer-address',
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter((item) => item.type === 'chunk');
    const viewer = chunks.find((item) => item.name === 'app');
    const entry = chunks.find((item) => item.isEntry);
    if (!viewer || !entry?.code.includes('__VIEWER__')) throw new Error('index.js has no place for the address of the viewer');
    entry.code = entry.code.replace('__VIEWER__', JSON.stringify(`./${viewer.fileName}`));
  },
};

// The plugin serves the bundle below an unknown prefix, so every URL must be relative; the host page imports `render`
// from index.js, so that name is fixed and its export kept. Everything else carries a content hash.
export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [viewerAddress],
  build: {
    outDir: '../tb_graph_ascend/static',
    emptyOutDir: true,
    target: 'es2022',
    minify: !process.env.READABLE,
    modulePreload: false,
    rollupOptions: {
      input: 'src/index.ts',
      preserveEntrySignatures: 'allow-extension', // index.js itself holds what the viewer shares with it: one request less
      output: { entryFileNames: 'index.js', chunkFileNames: 'assets/[name]-[hash].js', assetFileNames: 'assets/[name]-[hash][extname]' },
    },
  },
  test: { include: ['tests/**/*.test.ts'], environment: 'node' },
});
