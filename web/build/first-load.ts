// A Vite plugin that prints how much compressed script a first visit loads, and fails the build
// above a limit, so that an accidental growth is noticed at once.
import { gzipSync } from 'node:zlib'
import type { Plugin, Rolldown } from 'vite'

type Bundle = Rolldown.OutputBundle

export function firstLoad(options: {
  readonly kilobytesMax: number
  /** Path endings of modules that every first visit imports dynamically. */
  readonly also: readonly string[]
}): Plugin {
  const { kilobytesMax, also } = options
  return {
    name: 'first-load',
    apply: 'build',
    generateBundle(_options, bundle) {
      const kilobytes = sumOf(
        [...firstChunks(bundle, also)].map((name) => compressedSize(bundle, name)),
      )
      this.info(`first load: ${kilobytes.toFixed(1)} KB of script, compressed`)
      for (const line of linesOf(bundle)) this.info(line)
      if (kilobytes > kilobytesMax) {
        this.error(`a first visit loads ${kilobytes.toFixed(1)} KB; ${kilobytesMax} is the limit`)
      }
    },
  }
}

/** The chunks of the entry and of `also`, with everything that they import statically. */
function firstChunks(bundle: Bundle, also: readonly string[]): Set<string> {
  const names = Object.values(bundle).flatMap((one) => {
    if (one.type !== 'chunk') return []
    const isAlso = also.some((end) => one.facadeModuleId?.endsWith(end) === true)
    return one.isEntry || isAlso ? [one.fileName] : []
  })
  const chunks = new Set(names)
  // Iterating a set also visits the members added meanwhile, each once.
  for (const name of chunks) {
    const chunk = bundle[name]
    if (chunk?.type !== 'chunk') continue
    for (const next of chunk.imports) chunks.add(next)
  }
  return chunks
}

function compressedSize(bundle: Bundle, name: string): number {
  const one = bundle[name]
  const text = one?.type === 'chunk' ? one.code : (one?.source ?? '')
  return gzipSync(text).length / 1024
}

function linesOf(bundle: Bundle): string[] {
  return Object.keys(bundle)
    .filter((name) => /\.(?:js|css)$/.test(name))
    .map((name) => ({ name, kilobytes: compressedSize(bundle, name) }))
    .sort((a, b) => b.kilobytes - a.kilobytes)
    .map(({ name, kilobytes }) => `${kilobytes.toFixed(1).padStart(7)} KB  ${name}`)
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}
