// A narrow sheet with a striped bar, a heading and a form or a message: the pages without a session
// and the error pages.
import type { ReactNode } from 'react'
import { useArrival } from './Page.tsx'

export function Sheet(props: {
  readonly title: string
  readonly lead?: ReactNode
  readonly children?: ReactNode
}) {
  const { title, lead, children } = props
  const heading = useArrival(title)
  return (
    <div className="overflow-hidden rounded-box border border-line bg-sheet">
      <div aria-hidden className="barrier h-2" />
      <div className="grid gap-6 p-5 sm:p-8">
        <div className="grid gap-2">
          <h1 ref={heading} tabIndex={-1} className="text-2xl">
            {title}
          </h1>
          {lead !== undefined && <div className="grid gap-2 text-soft">{lead}</div>}
        </div>
        {children}
      </div>
    </div>
  )
}
