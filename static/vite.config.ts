import { defineConfig } from 'vitest/config';

// The plugin serves the bundle below an unknown prefix, so every URL must be relative; the host page imports `render`
// from index.js, so that name is fixed and its export kept. Everything else carries a content hash.
export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../tb_graph_ascend/static',
    emptyOutDir: true,
    target: 'es2022',
    minify: !process.env.READABLE,
    modulePreload: false,
    rollupOptions: {
      input: 'src/index.ts',
      preserveEntrySignatures: 'strict',
      output: { entryFileNames: 'index.js', chunkFileNames: 'assets/[name]-[hash].js', assetFileNames: 'assets/[name]-[hash][extname]' },
    },
  },
  test: { include: ['tests/**/*.test.ts'], environment: 'node' },
});
