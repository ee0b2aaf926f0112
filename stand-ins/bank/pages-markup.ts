// HTML as a value. Everything put into a template is escaped unless it is markup itself, so a shop
// cannot break a page with the description of an order.

export type Markup = { readonly markup: string }
export type Part = Markup | string | number | false | null | undefined | readonly Part[]

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const pieces = strings.map((text, place) => text + written(parts[place]))
  return { markup: pieces.join('') }
}

/** Text that is already HTML: only for text that this server made. */
export function raw(markup: string): Markup {
  return { markup }
}

function written(part: Part): string {
  if (part === null || part === undefined || part === false) return ''
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  return 'markup' in part ? part.markup : part.map(written).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char)
}
