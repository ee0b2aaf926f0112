// Builds the cabinet's pages and serves them during development. No inline scripts and nothing from
// other sites: the pages run under script-src 'self', style-src 'self' and trusted types.
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, loadEnv } from 'vite'
import { chunkOf } from './build/chunks.ts'
import { compress } from './build/compress.ts'
import { docs } from './build/docs/docs.ts'
import { firstLoad } from './build/first-load.ts'
import { preloadScripts } from './build/preload-scripts.ts'
import { serverRender } from './build/server-render.ts'

const root = fileURLToPath(new URL('.', import.meta.url))
const { CABINET_URL = 'http://127.0.0.1:8081' } = loadEnv('', root, 'CABINET_')
const proxy = { '/api': { target: CABINET_URL }, '/status.xml': { target: CABINET_URL } }

/** What a guest's first visit loads besides the entry: the words and one of the two first pages. */
const FIRST = [
  '/web/main.tsx',
  '/words/ru/ru.ts',
  '/pages/front/Front.tsx',
  '/pages/sign-in/SignIn.tsx',
]

/** The policy that the cabinet sends, so that `vite preview` shows what it would block. */
const policy = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `form-action 'self'`,
  `base-uri 'none'`,
  `frame-ancestors 'none'`,
  `require-trusted-types-for 'script'`,
].join('; ')

// biome-ignore lint/style/noDefaultExport: Vite expects a default export.
export default defineConfig({
  root,
  plugins: [
    react(),
    tailwindcss(),
    docs(fileURLToPath(new URL('..', import.meta.url))),
    firstLoad({ kilobytesMax: 200, also: FIRST }),
    preloadScripts({
      everyPage: ['main', 'rolldown-runtime', 'react', 'basics'],
      manyPages: ['owner'],
    }),
    compress(),
    serverRender(),
  ],
  resolve: {
    alias: {
      // To lock scrolling under a dialog it adds <style> elements, which the policy forbids.
      'react-style-singleton': fileURLToPath(
        new URL('ui/dialog/adopted-style.ts', import.meta.url),
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
    rolldownOptions: {
      // A note about slow plugins, which a visitor of the demo takes for an error.
      checks: { bundlerTimings: false },
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [{ name: chunkOf(root), debugName: 'chunks' }],
        },
      },
    },
  },
  server: { host: '127.0.0.1', proxy },
  preview: { host: '127.0.0.1', proxy, headers: { 'content-security-policy': policy } },
})
