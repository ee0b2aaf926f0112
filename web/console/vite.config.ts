// Builds the console's pages, beside the cabinet's and from the same components, under the same
// content security policy: no inline scripts and nothing from other sites.
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, loadEnv } from 'vite'
import { compress } from '../build/compress.ts'
import { documents } from '../build/documents.ts'
import { firstLoad } from '../build/first-load.ts'
import { resolveLink } from './alarms/sections.ts'

const root = fileURLToPath(new URL('.', import.meta.url))
const { CONSOLE_URL = 'http://127.0.0.1:8083' } = loadEnv('', root, 'CONSOLE_')

// biome-ignore lint/style/noDefaultExport: Vite expects a default export.
export default defineConfig({
  root,
  publicDir: fileURLToPath(new URL('../public', import.meta.url)),
  plugins: [
    react(),
    tailwindcss(),
    documents({ resolveLink }),
    firstLoad({ kilobytesMax: 250, also: ['/words/ru.ts', '/today/Today.tsx'] }),
    compress(),
  ],
  resolve: {
    alias: {
      // To lock scrolling under a dialog it adds <style> elements, which the policy forbids.
      'react-style-singleton': fileURLToPath(
        new URL('../ui/dialog/adopted-style.ts', import.meta.url),
      ),
    },
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsDir: 'assets',
    // An inlined asset is a data: URL, which the policy allows only for images.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  // The components are in the folder above.
  server: { host: '127.0.0.1', proxy: { '/api': { target: CONSOLE_URL } }, fs: { allow: ['..'] } },
})
