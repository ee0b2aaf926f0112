// A build step that leaves a Brotli and a gzip copy beside every file worth it. Packing once with
// the best settings is smaller and cheaper than packing for every visit.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

/** Below a packet's worth, packing saves nothing but the copy. */
const BYTES_MIN = 1_024

export function packed(): Plugin {
  return {
    name: 'packed',
    apply: 'build',
    // After everything is written: what is in public/ is copied past the bundle.
    closeBundle: {
      order: 'post',
      handler() {
        pack(resolve(this.environment.config.root, this.environment.config.build.outDir))
      },
    },
  }
}

function pack(directory: string): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(?:js|css|html|svg)$/.test(name)) continue
    const path = join(directory, name)
    const bytes = readFileSync(path)
    if (bytes.length < BYTES_MIN) continue
    writeFileSync(`${path}.br`, brotliCompressSync(bytes))
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  }
}
