// Which file of the build a module goes to. Left alone, the bundler makes some forty files of a few
// hundred bytes, and the overview fetches and links twenty-five of them. What is first needed
// together is one file, and it fetches ten: 1.0 s of its thread instead of 1.1 (best of 9, slowed).
import { join } from 'node:path'
import type { Rolldown } from 'vite'

type Modules = Pick<Rolldown.PluginContext, 'getModuleInfo'>

/** Small parts that nearly every page needs, without what is large and rare. */
const BASICS = new RegExp(
  [
    '/lucide-react/',
    '/react-i18next/|/html-parse-stringify/',
    '/react-query/.*/useMutation|/query-core/.*/mutationObserver',
    '/web/ui/(?!dialog/(?:Dialog|adopted-style)|markdown/|Menu|QrCode|Tabs)',
    String.raw`/web/account/(?:code|letter)\b`,
    String.raw`/web/format/(?:formats?|phrases)\b|/web/runtime/(?:zone|save-file)\b`,
  ].join('|'),
)

/** What start.ts needs before the rest is there is a file of its own. */
const AT_ONCE = /\/web\/runtime\/(?:early|here)\.ts$|\/preload-helper/

/** The name of a module's file; null leaves it to the bundler. */
export function chunkOf(root: string) {
  const atStart = reached(join(root, 'main.tsx'))
  const byOwner = reached(join(root, 'frame/OwnerFrame.tsx'), join(root, 'pages/home/Home.tsx'))
  return (id: string, modules: Modules): string | null => {
    if (AT_ONCE.test(id)) return 'here'
    // Two files of about the same size are compiled by two threads while a third runs the page.
    if (/\/node_modules\/(?:react|react-dom|scheduler)\//.test(id)) return 'react'
    if (BASICS.test(id) || atStart(id, modules)) return 'basics'
    // The frame of the signed-in pages with its menu, and the overview, which most visits open.
    return byOwner(id, modules) ? 'owner' : null
  }
}

/** Whether a module is imported by one of the given, directly or not, and at once. */
function reached(...roots: readonly string[]) {
  const known: { all?: ReadonlySet<string> } = {}
  return (id: string, modules: Modules): boolean => {
    known.all ??= reachOf(roots, modules)
    return known.all.has(id)
  }
}

function reachOf(roots: readonly string[], modules: Modules): ReadonlySet<string> {
  const all = new Set(roots)
  // A set grows while it is walked, and each module is in it once.
  for (const id of all) {
    for (const next of modules.getModuleInfo(id)?.importedIds ?? []) all.add(next)
  }
  return all
}
