/** Builds the console: one page, split by route, compressed once, kept under its limit. */
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressOutput } from './build/compress-output.ts'
import { groupChunks } from './build/group-chunks.ts'
import { limitFirstLoad } from './build/limit-first-load.ts'

/** Everything a browser fetches before it shows the sign-in page, gzipped. */
const FIRST_LOAD_BYTES_MAX = 300_000

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), limitFirstLoad(FIRST_LOAD_BYTES_MAX), compressOutput()],
  // The server puts a fresh nonce in its place on every answer.
  html: { cspNonce: 'CSP_NONCE' },
  build: {
    target: 'es2023',
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 900,
    rolldownOptions: { output: groupChunks() },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/admin': 'http://127.0.0.1:8080', '/v1': 'http://127.0.0.1:8080' },
  },
})
