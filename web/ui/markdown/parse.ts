// Parses Markdown with `marked` into blocks. HTML in a text stays plain text, and comments are
// dropped: the texts are our own documentation and the operator's legal documents, and neither may
// bring elements of its own into a page.
import { Lexer, type Token, type Tokens } from 'marked'
import { type Block, type Inline, plainText, type Row } from './blocks.ts'

/** Where a link of the text leads on our pages; undefined: its words stay, without a link. */
export type ResolveLink = (href: string) => string | undefined

/** Only addresses that navigate: a `javascript:` address would run a script. */
const NAVIGATES = /^(?:https?:|mailto:|tel:|\/(?!\/)|#)/

export function parseMarkdown(markdown: string, resolveLink: ResolveLink = (href) => href) {
  const ids = new Map<string, number>()
  const state: State = {
    resolveLink: (href) => {
      const found = resolveLink(href)
      return found !== undefined && NAVIGATES.test(found) ? found : undefined
    },
    idOf: (title) => {
      const id = anchorOf(title)
      const before = ids.get(id) ?? 0
      ids.set(id, before + 1)
      return before === 0 ? id : `${id}-${before}`
    },
  }
  return blocksOf(new Lexer({ gfm: true }).lex(markdown), state)
}

type State = {
  readonly resolveLink: ResolveLink
  readonly idOf: (title: string) => string
}

/** The anchor of a heading, made as GitHub does. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function blocksOf(tokens: readonly Token[], state: State): Block[] {
  return tokens.flatMap((token) => blockOf(token, state))
}

function blockOf(token: Token, state: State): Block | [] {
  switch (token.type) {
    case 'heading': {
      const inside = inlinesOf(token.tokens, state)
      return { kind: 'heading', level: token.depth, id: state.idOf(plainText(inside)), inside }
    }
    case 'paragraph':
    case 'text':
      return { kind: 'paragraph', inside: inlinesOf(token.tokens ?? [token], state) }
    case 'code':
      return { kind: 'code', language: token.lang ?? '', text: token.text }
    case 'blockquote':
      return { kind: 'quote', blocks: blocksOf(token.tokens ?? [], state) }
    case 'list':
      return listOf(token as Tokens.List, state)
    case 'table':
      return tableOf(token as Tokens.Table, state)
    case 'hr':
      return { kind: 'rule' }
    case 'html':
      return htmlText(token.text) === '' ? [] : { kind: 'paragraph', inside: [token.text.trim()] }
    default:
      // Empty lines and definitions of links.
      return []
  }
}

function listOf({ ordered, start, items }: Tokens.List, state: State): Block {
  const numbered = ordered ? { start: start === '' ? 1 : start } : {}
  return { kind: 'list', ...numbered, items: items.map((one) => blocksOf(one.tokens, state)) }
}

/** Tables of our error codes and settings have one of these first headings. */
const CODES = /^(?:code|код|setting|настройка)$/

function tableOf({ header, rows }: Tokens.Table, state: State): Block {
  const head = header.map(({ tokens }) => inlinesOf(tokens, state))
  const hasCodes = CODES.test(plainText(head[0] ?? []))
  return { kind: 'table', head, rows: rows.map(rowOf) }

  function rowOf(row: readonly Tokens.TableCell[]): Row {
    const cells = row.map(({ tokens }) => inlinesOf(tokens, state))
    const id = hasCodes ? firstCode(cells[0]) : undefined
    return id === undefined ? { cells } : { id, cells }
  }
}

function firstCode(cell: readonly Inline[] = []): string | undefined {
  const found = cell.find((inline) => typeof inline !== 'string' && inline.kind === 'code')
  return found === undefined ? undefined : plainText([found])
}

function inlinesOf(tokens: readonly Token[] = [], state: State): Inline[] {
  return tokens.flatMap((token) => inlineOf(token, state)).reduce<Inline[]>(joined, [])
}

/** Neighbouring texts become one: fewer and longer strings in the scripts. */
function joined(before: Inline[], inline: Inline): Inline[] {
  const last = before.at(-1)
  if (typeof last === 'string' && typeof inline === 'string') before[before.length - 1] += inline
  else before.push(inline)
  return before
}

function inlineOf(token: Token, state: State): Inline | readonly Inline[] {
  switch (token.type) {
    case 'strong':
      return { kind: 'bold', inside: inlinesOf(token.tokens, state) }
    case 'em':
      return { kind: 'italic', inside: inlinesOf(token.tokens, state) }
    case 'codespan':
      return { kind: 'code', text: token.text.replaceAll('\n', ' ') }
    case 'link': {
      const href = state.resolveLink(token.href)
      const inside = inlinesOf(token.tokens, state)
      return href === undefined ? inside : { kind: 'link', href, inside }
    }
    case 'br':
      return ' '
    case 'html':
      return htmlText(token.text)
    case 'text':
      // Within a table cell or a list item, a text may have marks of its own.
      return token.tokens === undefined
        ? token.text.replace(/\s*\n\s*/g, ' ')
        : inlinesOf(token.tokens, state)
    default:
      return 'text' in token ? token.text : token.raw
  }
}

function htmlText(html: string): string {
  return html.replace(/<!--.*?-->/gs, '').trim()
}
