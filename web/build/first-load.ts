// A build step that says how much script a first visit loads, compressed, and fails the build when
// it is more than agreed: a page that grew by accident is noticed on the day it did.
import { gzipSync } from 'node:zlib'
import type { Plugin, Rolldown } from 'vite'

type Bundle = Rolldown.OutputBundle

export function firstLoad(options: {
  readonly kilobytesMax: number
  /** Ends of the names of modules that are loaded on demand, but at once. */
  readonly also: readonly string[]
}): Plugin {
  const { kilobytesMax, also } = options
  return {
    name: 'first-load',
    apply: 'build',
    generateBundle(_options, bundle) {
      const kilobytes = sumOf(
        [...reachedAtOnce(bundle, also)].map((name) => compressed(bundle, name)),
      )
      this.info(`first load: ${kilobytes.toFixed(1)} KB of script, compressed`)
      for (const line of linesOf(bundle)) this.info(line)
      if (kilobytes > kilobytesMax) {
        this.error(`a first visit loads ${kilobytes.toFixed(1)} KB; ${kilobytesMax} is the limit`)
      }
    },
  }
}

/** The entry and the like, and what they import without asking; the rest comes later. */
function reachedAtOnce(bundle: Bundle, also: readonly string[]): Set<string> {
  const names = Object.values(bundle).flatMap((one) => {
    if (one.type !== 'chunk') return []
    const isAlso = also.some((end) => one.facadeModuleId?.endsWith(end) === true)
    return one.isEntry || isAlso ? [one.fileName] : []
  })
  const reached = new Set(names)
  // A set grows while it is walked, and each name is in it once.
  for (const name of reached) {
    const chunk = bundle[name]
    if (chunk?.type !== 'chunk') continue
    for (const next of chunk.imports) reached.add(next)
  }
  return reached
}

function compressed(bundle: Bundle, name: string): number {
  const one = bundle[name]
  const text = one?.type === 'chunk' ? one.code : (one?.source ?? '')
  return gzipSync(text).length / 1024
}

function linesOf(bundle: Bundle): string[] {
  return Object.keys(bundle)
    .filter((name) => /\.(?:js|css)$/.test(name))
    .map((name) => ({ name, kilobytes: compressed(bundle, name) }))
    .sort((a, b) => b.kilobytes - a.kilobytes)
    .map(({ name, kilobytes }) => `${kilobytes.toFixed(1).padStart(7)} KB  ${name}`)
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}
