// Renders Markdown as React elements, never as an HTML string.
import { type ReactNode, useMemo } from 'react'
import { TextAnchor } from '../TextLink.tsx'
import { anchorOf, type Block, blocksOf, type Inline, inlinesOf } from './markdown.ts'

export function Markdown({ text }: { readonly text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text])
  return <div className="grid gap-4">{blocks.map((block, at) => blockElement(block, at))}</div>
}

function blockElement(block: Block, at: number): ReactNode {
  switch (block.kind) {
    case 'heading':
      // The page already has an h1, so the headings of the text begin with h2.
      return block.level <= 2 ? (
        <h2 key={at} id={anchorOf(block.text)} className="mt-3 text-xl">
          {spans(block.text)}
        </h2>
      ) : (
        <h3 key={at} id={anchorOf(block.text)} className="mt-2 text-lg">
          {spans(block.text)}
        </h3>
      )
    case 'list': {
      const items = block.items.map((item) => <li key={item}>{spans(item)}</li>)
      return block.isOrdered ? (
        <ol key={at} className="grid list-decimal gap-1.5 ps-6">
          {items}
        </ol>
      ) : (
        <ul key={at} className="grid list-disc gap-1.5 ps-6">
          {items}
        </ul>
      )
    }
    case 'table':
      return <TextTable key={at} head={block.head} rows={block.rows} />
    case 'rule':
      return <hr key={at} className="border-line" />
    case 'quote':
      return (
        <blockquote key={at} className="border-s-3 border-line ps-4 text-soft">
          {spans(block.text)}
        </blockquote>
      )
    case 'code':
      return <CodeText key={at} text={block.text} />
    case 'paragraph':
      return <p key={at}>{spans(block.text)}</p>
  }
}

function CodeText({ text }: { readonly text: string }) {
  return (
    // Long lines scroll, also by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable.
    <pre tabIndex={0} className="overflow-x-auto rounded-box bg-sunk p-4 text-sm">
      <code>{text}</code>
    </pre>
  )
}

function TextTable(props: {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: as above.
    <div tabIndex={0} className="overflow-x-auto">
      <table className="w-full border-collapse text-start text-sm">
        <thead>
          <tr>{props.head.map((cell, at) => headCell(cell, at))}</tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={row.join('|')}>{row.map((cell, at) => bodyCell(cell, at))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

// Keyed by index: cells may have equal text, and empty ones do.
function headCell(cell: string, at: number): ReactNode {
  return (
    <th key={at} scope="col" className="border border-line bg-sunk p-2 text-start">
      {spans(cell)}
    </th>
  )
}

function bodyCell(cell: string, at: number): ReactNode {
  return (
    <td key={at} className="border border-line p-2 align-top">
      {spans(cell)}
    </td>
  )
}

function spans(text: string): ReactNode[] {
  return inlinesOf(text).map((inline, at) => span(inline, at))
}

function span(inline: Inline, at: number): ReactNode {
  switch (inline.kind) {
    case 'bold':
      return <strong key={at}>{inline.text}</strong>
    case 'italic':
      return <em key={at}>{inline.text}</em>
    case 'code':
      return (
        <code key={at} className="rounded-xs bg-sunk px-1 text-[0.9em]">
          {breakable(inline.text)}
        </code>
      )
    case 'link':
      return (
        <TextAnchor key={at} href={inline.href}>
          {inline.text}
        </TextAnchor>
      )
    case 'text':
      return inline.text
  }
}

/** A long code, such as `content_encoding_unsupported`, may break after `_` to fit its column. */
function breakable(code: string): ReactNode[] {
  return code.split(/(?<=_)/).flatMap((part, at) => afterBreak(part, at))
}

// Keyed by index, as above.
function afterBreak(part: string, at: number): ReactNode[] {
  return at === 0 ? [part] : [<wbr key={at} />, part]
}
