// A block of code with a bar above it: the language, other controls, and a button that copies it.
import type { ReactNode } from 'react'
import { CopyButton } from './CopyButton.tsx'

export function CodeBlock(props: {
  readonly language: string
  readonly shown: string
  /** What the button copies; it may differ from what is shown, which masks a secret. */
  readonly copied: string | (() => Promise<string>)
  readonly controls?: ReactNode
}) {
  const { language, shown, copied, controls } = props
  return (
    <figure className="min-w-0 overflow-hidden rounded-box border border-line bg-sunk">
      <figcaption
        className="flex min-h-10 items-center gap-2 border-b border-line py-0.5 ps-4 pe-1 text-xs
          text-soft"
      >
        <span translate="no" className="me-auto font-mono">
          {names[language] ?? language}
        </span>
        {controls}
        <CopyButton value={copied} tone="quiet" />
      </figcaption>
      {/* Long lines scroll, so the box takes the focus for keyboard users. */}
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see the line above.
        tabIndex={0}
        translate="no"
        className="overflow-x-auto p-4 text-sm leading-relaxed"
      >
        <code>{shown}</code>
      </pre>
    </figure>
  )
}

/** Languages of fences by the names that readers know them by. */
const names: Readonly<Record<string, string>> = {
  sh: 'Shell',
  ts: 'TypeScript',
  python: 'Python',
  json: 'JSON',
  yaml: 'YAML',
  http: 'HTTP',
}
