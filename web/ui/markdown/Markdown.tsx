// Renders the blocks of a Markdown text as React elements, never as an HTML string.
import { createContext, type ReactNode, useContext } from 'react'
import { CodeBlock } from '../CodeBlock.tsx'
import { classes } from '../classes.ts'
import { TextAnchor } from '../TextLink.tsx'
import type { Block, Code, Heading, Inline, Row } from './blocks.ts'

/** How a page shows what it may want to show in its own way. */
export type Rendering = {
  readonly code: (code: Code) => ReactNode
  readonly link: (href: string, children: ReactNode) => ReactNode
  /** Changes words and codes outside of code blocks. */
  readonly text: (text: string) => string
  /** What stands behind a heading, such as a link to it. */
  readonly headingEnd: (heading: Heading) => ReactNode
}

const usual: Rendering = {
  code: ({ language, text }) => <CodeBlock language={language} shown={text} copied={text} />,
  link: (href, children) => <TextAnchor href={href}>{children}</TextAnchor>,
  text: (text) => text,
  headingEnd: () => null,
}

const RenderingContext = createContext(usual)

export function Markdown(props: {
  readonly blocks: readonly Block[]
  readonly rendering?: Partial<Rendering>
}) {
  return (
    <RenderingContext value={{ ...usual, ...props.rendering }}>
      <div className="grid min-w-0 gap-4 [&>*]:min-w-0">
        <Blocks blocks={props.blocks} />
      </div>
    </RenderingContext>
  )
}

function Blocks({ blocks }: { readonly blocks: readonly Block[] }) {
  // Keyed by index: a text never changes while it is shown.
  return blocks.map((block, at) => <BlockElement key={blockKey(block, at)} block={block} />)
}

function blockKey(block: Block, at: number): string | number {
  return block.kind === 'heading' ? block.id : at
}

function BlockElement({ block }: { readonly block: Block }) {
  const rendering = useContext(RenderingContext)
  switch (block.kind) {
    case 'heading':
      return <HeadingElement heading={block} />
    case 'list':
      return block.start === undefined ? (
        <ul className="list-disc space-y-1.5 ps-6">{itemElements(block.items)}</ul>
      ) : (
        <ol start={block.start} className="list-decimal space-y-1.5 ps-6">
          {itemElements(block.items)}
        </ol>
      )
    case 'table':
      return <TextTable head={block.head} rows={block.rows} />
    case 'rule':
      return <hr className="border-line" />
    case 'quote':
      return (
        <blockquote className="grid gap-3 border-s-3 border-line ps-4 text-soft">
          <Blocks blocks={block.blocks} />
        </blockquote>
      )
    case 'code':
      return rendering.code(block)
    case 'paragraph':
      return (
        <p className="wrap-break-word">
          <Inlines inside={block.inside} />
        </p>
      )
  }
}

/** The page already has an h1, so the headings of the text begin with h2. */
function HeadingElement({ heading }: { readonly heading: Heading }) {
  const { headingEnd } = useContext(RenderingContext)
  const { level, id, inside } = heading
  const content = (
    <>
      <Inlines inside={inside} />
      {headingEnd(heading)}
    </>
  )
  return level <= 2 ? (
    <h2 id={id} className="group mt-6 scroll-mt-6 text-xl wrap-anywhere first:mt-0 sm:text-2xl">
      {content}
    </h2>
  ) : (
    <h3 id={id} className="group mt-3 scroll-mt-6 text-lg wrap-anywhere">
      {content}
    </h3>
  )
}

function itemElements(items: readonly (readonly Block[])[]): ReactNode[] {
  return items.map((blocks, at) => itemElement(blocks, at))
}

// Keyed by index, as above.
function itemElement(blocks: readonly Block[], at: number): ReactNode {
  return (
    <li key={at} className="min-w-0 ps-1 [&>*+*]:mt-2">
      <Blocks blocks={blocks} />
    </li>
  )
}

function TextTable(props: {
  readonly head: readonly (readonly Inline[])[]
  readonly rows: readonly Row[]
}) {
  return (
    // Wide tables scroll, also by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable.
    <div tabIndex={0} className="overflow-x-auto rounded-part border border-line">
      <table className="w-full border-collapse text-start text-sm">
        <thead>
          <tr className="bg-sunk">{props.head.map((cell, at) => headCell(cell, at))}</tr>
        </thead>
        <tbody>{props.rows.map((row, at) => tableRow(row, at))}</tbody>
      </table>
    </div>
  )
}

// Keyed by index: cells may have equal text, and empty ones do.
function tableRow({ id, cells }: Row, at: number): ReactNode {
  return (
    <tr
      key={at}
      {...(id === undefined ? {} : { id })}
      className="scroll-mt-6 border-t border-line data-found:bg-tint"
    >
      {cells.map((cell, column) => bodyCell(cell, column))}
    </tr>
  )
}

function headCell(cell: readonly Inline[], at: number): ReactNode {
  return (
    <th key={at} scope="col" className="p-2.5 text-start align-bottom font-medium">
      <Inlines inside={cell} />
    </th>
  )
}

function bodyCell(cell: readonly Inline[], at: number): ReactNode {
  return (
    <td key={at} className="p-2.5 align-top">
      <Inlines inside={cell} />
    </td>
  )
}

function Inlines({ inside }: { readonly inside: readonly Inline[] }) {
  return inside.map((inline, at) => <InlineElement key={inlineKey(at)} inline={inline} />)
}

/** By index, as above. */
function inlineKey(at: number): number {
  return at
}

function InlineElement({ inline }: { readonly inline: Inline }): ReactNode {
  const { text, link } = useContext(RenderingContext)
  if (typeof inline === 'string') return text(inline)
  switch (inline.kind) {
    case 'bold':
      return (
        <strong className="font-semibold">
          <Inlines inside={inline.inside} />
        </strong>
      )
    case 'italic':
      return (
        <em>
          <Inlines inside={inline.inside} />
        </em>
      )
    case 'code':
      return (
        <code
          translate="no"
          className={classes(
            'rounded-xs bg-sunk px-1 text-[0.9em]',
            inline.text.length <= WHOLE_MAX && 'whitespace-nowrap',
          )}
        >
          {inline.text.length <= WHOLE_MAX ? text(inline.text) : breakable(text(inline.text))}
        </code>
      )
    case 'link':
      return link(inline.href, <Inlines inside={inline.inside} />)
  }
}

/**
 * A code of so many characters stays on one line, in a narrow column of a table too: `.env` in two
 * pieces is hard to read. With more of them, the tables of the errors do not fit at 1280 pixels.
 */
const WHOLE_MAX = 12

/** A long code or address, such as `content_encoding_unsupported`, may break to fit its column. */
function breakable(code: string): ReactNode[] {
  return code.split(/(?<=[_./:@])/).flatMap((part, at) => afterBreak(part, at))
}

// Keyed by index, as above.
function afterBreak(part: string, at: number): ReactNode[] {
  return at === 0 ? [part] : [<wbr key={at} />, part]
}
