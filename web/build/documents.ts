// A Vite plugin for `import './page.md?document'`: the blocks of a Markdown file, parsed while the
// pages are built, so that the browser loads no parser.
import { readFileSync } from 'node:fs'
import type { Plugin } from 'vite'
import { parseMarkdown } from '../ui/markdown/parse.ts'

const QUERY = '.md?document'

export function documents(options: {
  /** Where a link of a file leads; undefined: it stays text. */
  readonly resolveLink: (href: string, file: string) => string | undefined
}): Plugin {
  return {
    name: 'documents',
    load(id) {
      if (!id.endsWith(QUERY)) return undefined
      const file = id.slice(0, id.indexOf('?'))
      this.addWatchFile(file)
      const blocks = parseMarkdown(readFileSync(file, 'utf8'), (href) =>
        options.resolveLink(href, file),
      )
      return { code: `export default ${JSON.stringify(blocks)}`, moduleType: 'js' }
    },
  }
}
