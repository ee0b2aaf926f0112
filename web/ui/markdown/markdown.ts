// Parses Markdown into blocks (headings, paragraphs, lists, tables, rules, code) and lines into
// bold, italic, code and links. Unknown syntax and HTML stay plain text. The texts are our own
// documentation and the operator's documents.

export type Inline =
  | { readonly kind: 'text' | 'bold' | 'italic' | 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string }

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph' | 'quote' | 'code'; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly Row[] }
  | { readonly kind: 'rule' }
type Row = readonly string[]

const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+/

/** Code is cut out first, because blank lines inside it do not separate blocks. */
const CODE =
  /^```\w*\n(?<fenced>[\s\S]*?)^```$|(?<=\n\n)(?<indented>(?: {4}[^\n]*\n|\n(?= {4}))+)/gm

export function blocksOf(markdown: string): Block[] {
  const text = `${markdown.replaceAll('\r\n', '\n')}\n`
  const found: Block[] = []
  let from = 0
  for (const match of text.matchAll(CODE)) {
    const { fenced, indented = '' } = match.groups ?? {}
    found.push(...proseOf(text.slice(from, match.index)))
    const code = fenced ?? indented.replace(/^ {4}/gm, '')
    found.push({ kind: 'code', text: code.replace(/\n+$/, '') })
    from = match.index + match[0].length
  }
  return [...found, ...proseOf(text.slice(from))]
}

function proseOf(text: string): Block[] {
  return text.split(/\n\s*\n/).flatMap((chunk) => {
    const lines = chunk.split('\n').filter((line) => line.trim() !== '')
    return lines.length === 0 ? [] : blocksOfLines(lines)
  })
}

/** The anchor of a heading, made as GitHub does. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function blocksOfLines(lines: readonly string[]): Block[] {
  const [first = '', ...rest] = lines
  const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(first)
  if (heading !== null) {
    const block = {
      kind: 'heading',
      level: heading[1]?.length ?? 1,
      text: heading[2] ?? '',
    } as const
    return rest.length === 0 ? [block] : [block, ...blocksOfLines(rest)]
  }
  if (/^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/.test(first) && rest.length === 0) return [{ kind: 'rule' }]
  if (ITEM.test(first)) return [listOf(lines)]
  if (first.includes('|') && /^[\s|:-]+$/.test(rest[0] ?? '')) return [tableOf(lines)]
  const at = rest.findIndex((line) => ITEM.test(line))
  if (at !== -1) {
    return [...blocksOfLines(lines.slice(0, at + 1)), ...blocksOfLines(lines.slice(at + 1))]
  }
  const isQuote = lines.every((line) => line.startsWith('>'))
  const text = lines.map((line) => (isQuote ? line.replace(/^>\s?/, '') : line.trim())).join(' ')
  return [{ kind: isQuote ? 'quote' : 'paragraph', text }]
}

function listOf(lines: readonly string[]): Block {
  const items: string[] = []
  for (const line of lines) {
    if (ITEM.test(line)) items.push(line.replace(ITEM, ''))
    else items.push(`${items.pop() ?? ''} ${line.trim()}`)
  }
  return { kind: 'list', isOrdered: /^\s*\d/.test(lines[0] ?? ''), items }
}

function tableOf([head = '', , ...rows]: readonly string[]): Block {
  const cells = (line: string) =>
    line
      .trim()
      .replace(/^\||\|$/g, '')
      .split('|')
      .map((cell) => cell.trim())
  return { kind: 'table', head: cells(head), rows: rows.map(cells) }
}

const INLINE = new RegExp(
  [
    /\*\*(?<bold>[^*]+)\*\*/,
    /\*(?<italic>[^*\s][^*]*)\*/,
    /`(?<code>[^`]+)`/,
    /\[(?<link>[^\]]+)\]\((?<href>[^)\s]+)\)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

export function inlinesOf(text: string): Inline[] {
  const found: Inline[] = []
  let from = 0
  for (const match of text.matchAll(INLINE)) {
    if (match.index > from) found.push({ kind: 'text', text: text.slice(from, match.index) })
    found.push(inlineOf(match.groups ?? {}, match[0]))
    from = match.index + match[0].length
  }
  if (from < text.length) found.push({ kind: 'text', text: text.slice(from) })
  return found
}

function inlineOf(groups: Record<string, string | undefined>, whole: string): Inline {
  const { bold, italic, code, link, href } = groups
  if (bold !== undefined) return { kind: 'bold', text: bold }
  if (italic !== undefined) return { kind: 'italic', text: italic }
  if (code !== undefined) return { kind: 'code', text: code }
  // Only addresses that navigate; a javascript: address would run a script.
  if (
    link !== undefined &&
    href !== undefined &&
    /^(?:https?:|mailto:|tel:|\/(?!\/)|#)/.test(href)
  ) {
    return { kind: 'link', text: link, href }
  }
  return { kind: 'text', text: whole }
}
