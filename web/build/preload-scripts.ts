// A Vite plugin for the scripts that the first page runs. It lists them in index.html, because
// bootstrap.ts, which imports them, would request them only when it runs. And it puts a line at
// their top that lets Chromium compile all functions on background threads while they load, not
// one by one on the page's thread at the first call: on a processor slowed four times the overview
// needs 0.75 s of that thread instead of 1.03 (best of 9). Other browsers ignore the comment.
import type { Plugin } from 'vite'

const COMPILE_HINT = '//# allFunctionsCalledOnLoad\n'

export function preloadScripts(options: {
  /** Names of the chunks that every page runs: listed in index.html and compiled early. */
  readonly everyPage: readonly string[]
  /** Names of the chunks that many pages run: compiled early only. */
  readonly manyPages: readonly string[]
}): Plugin {
  const { everyPage, manyPages } = options
  return {
    name: 'preload-scripts',
    apply: 'build',
    generateBundle: {
      // After Vite has put its own lines at the top: the browser reads the first line only.
      order: 'post',
      handler(_options, bundle) {
        for (const one of Object.values(bundle)) {
          const hasHint = one.type === 'chunk' && [...everyPage, ...manyPages].includes(one.name)
          if (hasHint) one.code = `${COMPILE_HINT}${one.code}`
        }
      },
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {} }) =>
        Object.values(bundle)
          .filter((one) => one.type === 'chunk' && everyPage.includes(one.name))
          .map(({ fileName }) => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `/${fileName}` },
            injectTo: 'head',
          })),
    },
  }
}
