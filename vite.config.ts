import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The pages. Nothing is inlined: the content security policy allows neither inline script nor inline style. */
export default defineConfig({
  root: 'src/web/app',
  plugins: [react()],
  build: {
    outDir: '../../../dist/web',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      input: { index: 'src/web/app/index.html', 'service-worker': 'src/web/app/service-worker.ts' },
      output: {
        // A service worker is updated at one address for ever.
        entryFileNames: ({ name }) => (name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});
