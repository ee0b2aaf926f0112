// A Vite plugin that writes a Brotli and a gzip copy beside every text file. Compressing once with
// the best settings is smaller and cheaper than compressing for every visit.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

/** Smaller files fit into one network packet: compression gains nothing. */
const BYTES_MIN = 1_024

export function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    // After everything is written: the files of public/ are not part of the bundle.
    closeBundle: {
      order: 'post',
      handler() {
        compressFiles(resolve(this.environment.config.root, this.environment.config.build.outDir))
      },
    },
  }
}

function compressFiles(directory: string): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(?:js|css|html|svg)$/.test(name)) continue
    const path = join(directory, name)
    const bytes = readFileSync(path)
    if (bytes.length < BYTES_MIN) continue
    writeFileSync(`${path}.br`, brotliCompressSync(bytes))
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  }
}
