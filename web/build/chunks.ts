// Assigns modules to chunks of the build. By itself the bundler makes some forty files of a few
// hundred bytes, and the overview loads twenty-five of them. With the first page's modules joined
// it loads ten: 1.0 s of main-thread time instead of 1.1 (best of 9, CPU slowed down fourfold).
import { join } from 'node:path'
import type { Rolldown } from 'vite'

type Modules = Pick<Rolldown.PluginContext, 'getModuleInfo'>

/** Small modules that nearly every page needs, without large ones that few pages need. */
const BASICS = new RegExp(
  [
    '/lucide-react/',
    '/react-i18next/|/html-parse-stringify/',
    '/react-query/.*/useMutation|/query-core/.*/mutationObserver',
    '/web/ui/(?!dialog/(?:Dialog|adopted-style)|markdown/|Menu|QrCode|Tabs)',
    String.raw`/web/account/(?:hash-code|resend-countdown)\b`,
    // Prices in roubles, which the front page and the overview show.
    String.raw`/web/format/(?:(?:use-)?format|phrases|use-rate|roubles|decimal|price-names)\b`,
    String.raw`/web/runtime/(?:zone|save-file|media)\b`,
  ].join('|'),
)

/** Modules that bootstrap.ts runs before anything else has loaded: a chunk of their own. */
const FIRST_SCRIPT =
  /\/web\/(?:runtime\/(?:prefetch|preferences)|words\/load)\.ts$|\/preload-helper/

/** Returns the chunk name of a module; null leaves the choice to the bundler. */
export function chunkOf(root: string) {
  const isInMain = importedBy(join(root, 'main.tsx'))
  const isOwnerPage = importedBy(
    join(root, 'frame/OwnerFrame.tsx'),
    join(root, 'pages/home/Home.tsx'),
  )
  return (id: string, modules: Modules): string | null => {
    if (FIRST_SCRIPT.test(id)) return 'first-script'
    // React apart from the rest: two threads compile two files of about the same size in parallel.
    if (/\/node_modules\/(?:react|react-dom|scheduler)\//.test(id)) return 'react'
    if (BASICS.test(id) || isInMain(id, modules)) return 'basics'
    // The frame of the signed-in pages with its menu, and the overview, which most visits open.
    return isOwnerPage(id, modules) ? 'owner' : null
  }
}

/** Whether one of `roots` imports a module statically, directly or through others. */
function importedBy(...roots: readonly string[]) {
  const cache: { ids?: ReadonlySet<string> } = {}
  return (id: string, modules: Modules): boolean => {
    cache.ids ??= importsOf(roots, modules)
    return cache.ids.has(id)
  }
}

function importsOf(roots: readonly string[], modules: Modules): ReadonlySet<string> {
  const all = new Set(roots)
  // Iterating a set also visits the members added meanwhile, each once.
  for (const id of all) {
    for (const next of modules.getModuleInfo(id)?.importedIds ?? []) all.add(next)
  }
  return all
}
