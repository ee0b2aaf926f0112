// What a Markdown text consists of, as plain data: the build writes it into the pages' scripts, so
// that readers of the documentation do not load the parser.

export type Inline =
  | string
  | { readonly kind: 'bold' | 'italic'; readonly inside: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly href: string; readonly inside: readonly Inline[] }

export type Code = { readonly kind: 'code'; readonly language: string; readonly text: string }
export type Heading = {
  readonly kind: 'heading'
  readonly level: number
  /** Its address on the page, as GitHub makes it. */
  readonly id: string
  readonly inside: readonly Inline[]
}
export type Row = {
  /** The address of a row that begins with a code of ours, so that a search can lead to it. */
  readonly id?: string
  readonly cells: readonly (readonly Inline[])[]
}
export type Block =
  | Heading
  | Code
  | { readonly kind: 'paragraph'; readonly inside: readonly Inline[] }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | {
      readonly kind: 'list'
      /** Undefined: a list without numbers. */
      readonly start?: number
      readonly items: readonly (readonly Block[])[]
    }
  | {
      readonly kind: 'table'
      readonly head: readonly (readonly Inline[])[]
      readonly rows: readonly Row[]
    }
  | { readonly kind: 'rule' }

/** The text without its marks. */
export function plainText(inside: readonly Inline[]): string {
  return inside.map(plainOf).join('')
}

function plainOf(inline: Inline): string {
  if (typeof inline === 'string') return inline
  return inline.kind === 'code' ? inline.text : plainText(inline.inside)
}
