// A Vite plugin that builds server/render.tsx after the pages, into `server` beside them: one
// bundle with all its libraries, because a production server installs none of the browser's.
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { build, type Plugin } from 'vite'
import { docs } from './docs/docs.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

export function serverRender(): Plugin {
  return {
    name: 'server-render',
    apply: 'build',
    closeBundle: {
      order: 'post',
      async handler() {
        const { config } = this.environment
        await build({
          configFile: false,
          root,
          logLevel: 'warn',
          plugins: [react(), docs(fileURLToPath(new URL('../..', import.meta.url)))],
          // Libraries decide by it at run time whether they are slow and chatty.
          define: { 'process.env.NODE_ENV': '"production"' },
          ssr: { noExternal: true },
          build: {
            ssr: 'server/render.tsx',
            outDir: join(resolve(config.root, config.build.outDir), 'server'),
            emptyOutDir: true,
            copyPublicDir: false,
            reportCompressedSize: false,
            minify: false,
            rolldownOptions: { checks: { bundlerTimings: false } },
          },
        })
      },
    },
  }
}
