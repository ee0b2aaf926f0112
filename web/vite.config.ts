// How the cabinet's pages are built and served while one works on them. Nothing inline and nothing
// from elsewhere: the pages run under script-src 'self', style-src 'self' and trusted types.
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, loadEnv } from 'vite'
import { chunkOf } from './build/chunks.ts'
import { eager } from './build/eager.ts'
import { firstLoad } from './build/first-load.ts'
import { packed } from './build/packed.ts'

const root = fileURLToPath(new URL('.', import.meta.url))
const { CABINET_URL = 'http://127.0.0.1:8081' } = loadEnv('', root, 'CABINET_')
const proxy = { '/api': { target: CABINET_URL } }

/** What a guest loads at once besides the entry: the words, and one of the two first pages. */
const FIRST = ['/web/main.tsx', '/words/ru/ru.ts', '/pages/Front.tsx', '/pages/sign-in/SignIn.tsx']

/** As the cabinet sends it, so that `vite preview` shows what would be blocked. */
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

// biome-ignore lint/style/noDefaultExport: Vite reads it so.
export default defineConfig({
  root,
  plugins: [
    react(),
    tailwindcss(),
    firstLoad({ kilobytesMax: 200, also: FIRST }),
    eager({ always: ['main', 'rolldown-runtime', 'react', 'basics'], often: ['owner'] }),
    packed(),
  ],
  resolve: {
    alias: {
      // It adds <style> elements to lock scrolling under a dialog, which the policy refuses.
      'react-style-singleton': fileURLToPath(
        new URL('ui/dialog/adopted-style.ts', import.meta.url),
      ),
    },
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsDir: 'assets',
    // An inlined asset is a data: address, which the policy refuses for everything but images.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [{ name: chunkOf(root), debugName: 'chunks' }],
        },
      },
    },
  },
  // The documentation that the pages show lies beside this folder.
  server: { host: '127.0.0.1', proxy, fs: { allow: ['..'] } },
  preview: { host: '127.0.0.1', proxy, headers: { 'content-security-policy': policy } },
})
