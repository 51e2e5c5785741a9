import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// The build is committed and compared byte for byte, so nothing of it may depend on the machine or on a folder's name.
export default defineConfig({
  root: here('.'),
  base: './',
  resolve: { alias: { $: here('./src') } },
  plugins: [
    svelte({
      configFile: false,
      compilerOptions: { runes: true, cssHash: ({ hash, css }) => `s${hash(css)}` },
    }),
  ],
  build: {
    outDir: process.env.HOLDFAST_PAGE_OUT || here('../src/holdfast/doors/web/static'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        entryFileNames: 'assets/[name].js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: 'assets/[name][extname]',
      },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8787' } },
})
