// The Markdown of this repository as values: pages, their headings, links, fences and code marks.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseMarkdown } from '../../web/ui/markdown/parse.ts'

export const root = join(import.meta.dirname, '../..')

export type Fence = { readonly language: string; readonly text: string; readonly line: number }

export type Page = {
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
  /** The text without what stands in fences. */
  readonly prose: string
  readonly fences: readonly Fence[]
}

/** Every page that git knows, or would know after the next `git add`. */
export function readPages(): readonly Page[] {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '*.md']
  const names = execFileSync('git', listed, { cwd: root, encoding: 'utf8' })
  return names
    .split('\0')
    .filter((path) => path !== '')
    .map(readPage)
}

export function readPage(path: string): Page {
  const text = readFileSync(join(root, path), 'utf8')
  const fences: Fence[] = []
  const prose = text.replace(
    /^```(\w*)\n(.*?)^```$/gms,
    (whole, language: string, inside: string, offset: number) => {
      fences.push({ language, text: inside, line: lineAt(text, offset) + 1 })
      return whole.replace(/[^\n]/g, '')
    },
  )
  return { path, text, prose, fences }
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** The names under which a page's headings can be linked to. */
export function anchorsOf({ text }: Page): ReadonlySet<string> {
  const headings = parseMarkdown(text).filter((block) => block.kind === 'heading')
  return new Set(headings.map(({ id }) => id))
}

export type Found = { readonly value: string; readonly line: number }

/** Targets of links and pictures; not what stands in code marks. */
export function linksOf({ prose }: Page): readonly Found[] {
  const plain = prose.replace(/`[^`\n]*`/g, (code) => ' '.repeat(code.length))
  return [...plain.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => ({
    value: match[1] ?? '',
    line: lineAt(plain, match.index),
  }))
}

/** What stands in code marks, in indented blocks and in fences for a shell. */
export function codeOf({ prose, fences }: Page): readonly Found[] {
  const marked = [...prose.matchAll(/`([^`]+)`/g)].map((match) => ({
    value: (match[1] ?? '').replace(/\s+/g, ' '),
    line: lineAt(prose, match.index),
  }))
  const indented = prose
    .split('\n')
    .map((text, i) => ({ value: text.trim(), line: i + 1, isCode: /^ {4,}\S/.test(text) }))
    .filter(({ isCode }) => isCode)
  const typed = fences
    .filter(({ language }) => language === '' || language === 'sh')
    .flatMap(({ text, line }) =>
      text.split('\n').map((value, i) => ({ value: value.trim(), line: line + i })),
    )
  return [...marked, ...indented, ...typed].filter(({ value }) => value !== '')
}
