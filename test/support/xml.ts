// Reads XML as strictly as a feed reader would, as far as feeds need: a declaration, elements with
// quoted attributes, text, and the five references and numbers. Everything else throws.

export type XmlElement = {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly XmlElement[]
  /** The text between the tags, of this element only. */
  readonly text: string
}

const TOKEN = /<(\/?)([A-Za-z][\w.:-]*)((?:\s+[\w.:-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy
const ATTRIBUTE = /([\w.:-]+)="([^"]*)"/g
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
/** Not allowed in XML 1.0, in any form. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u

type Open = XmlElement & { children: XmlElement[]; text: string }

export function readXml(given: string): XmlElement {
  if (FORBIDDEN.test(given)) throw new Error('a character that XML forbids')
  const body = given.replace(/^<\?xml version="1\.0" encoding="utf-8"\?>\n/, '').trim()
  const top: Open = { name: '', attributes: {}, children: [], text: '' }
  const stack = [top]
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < body.length) {
    const from = TOKEN.lastIndex
    const token = TOKEN.exec(body)
    if (token === null) throw new Error(`not XML: ${body.slice(from, from + 60)}`)
    const [, slash = '', name = '', attributes = '', isEmpty = '', text = ''] = token
    const here = stack.at(-1) as Open
    if (name === '') here.text += unescaped(text)
    else if (slash !== '') closeElement(stack, name)
    else openElement(stack, name, attributes, isEmpty !== '')
  }
  const [root, ...more] = top.children
  if (root === undefined || more.length > 0 || stack.length > 1) throw new Error('not one element')
  if (top.text.trim() !== '') throw new Error('text outside of the element')
  return root
}

function openElement(stack: Open[], name: string, given: string, isEmpty: boolean): void {
  const pairs = [...given.matchAll(ATTRIBUTE)].map(([, key = '', value = '']) => [key, value])
  const attributes = Object.fromEntries(
    pairs.map(([key = '', value = '']) => [key, unescaped(value)]),
  )
  if (Object.keys(attributes).length < pairs.length) throw new Error(`${name} has one twice`)
  const element: Open = { name, attributes, children: [], text: '' }
  stack.at(-1)?.children.push(element)
  if (!isEmpty) stack.push(element)
}

function closeElement(stack: Open[], name: string): void {
  const closed = stack.length > 1 ? stack.pop() : undefined
  if (closed?.name !== name) throw new Error(`</${name}> closes ${closed?.name}`)
}

function unescaped(text: string): string {
  if (text.includes(']]>')) throw new Error(']]> in text')
  return text.replace(/&([^;&]*;?)/g, (all, inner: string) => {
    const [, hex, decimal] = /^#(?:x([0-9a-f]+)|(\d+));$/i.exec(inner) ?? []
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
    const named = inner.endsWith(';') ? NAMED[inner.slice(0, -1)] : undefined
    if (named === undefined) throw new Error(`an unknown reference ${all}`)
    return named
  })
}
