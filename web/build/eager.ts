// A build step for the files that the first page runs. They are named in index.html, because
// start.ts, which imports them, would ask for them only when it runs. And they begin with a line
// that lets Chromium compile all of their functions while they arrive, on threads of its own, and
// not one by one on the page's thread when they are first called: on a processor slowed four times
// the overview needs 0.75 s of that thread instead of 1.03 (best of 9). Others see a comment.
import type { Plugin } from 'vite'

const HINT = '//# allFunctionsCalledOnLoad\n'

export function eager(options: {
  /** Names of the files that every page runs. */
  readonly always: readonly string[]
  /** Names of those that many pages run. */
  readonly often: readonly string[]
}): Plugin {
  const { always, often } = options
  return {
    name: 'eager',
    apply: 'build',
    generateBundle: {
      // After Vite has put its own lines at the top: the browser reads the first line only.
      order: 'post',
      handler(_options, bundle) {
        for (const one of Object.values(bundle)) {
          const isEager = one.type === 'chunk' && [...always, ...often].includes(one.name)
          if (isEager) one.code = `${HINT}${one.code}`
        }
      },
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {} }) =>
        Object.values(bundle)
          .filter((one) => one.type === 'chunk' && always.includes(one.name))
          .map(({ fileName }) => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `/${fileName}` },
            injectTo: 'head',
          })),
    },
  }
}
