// A page inside the frame: its heading, its name in the browser's tab, its parts in a column. The
// heading takes the focus after navigation, so that readers say where one has come.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { brandAsk } from '../runtime/asks.ts'
import { classes } from './classes.ts'

export function Page(props: {
  readonly title: string
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  /** For text and forms; tables and cards take the whole width. */
  readonly isNarrow?: boolean
}) {
  const { title, lead, actions, children, isNarrow = false } = props
  const heading = useArrival(title)
  return (
    <div className={classes('grid min-w-0 gap-6', isNarrow && 'max-w-3xl')}>
      <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
        <div className="grid min-w-0 gap-1">
          <h1 ref={heading} tabIndex={-1} className="text-2xl sm:text-3xl">
            {title}
          </h1>
          {lead !== undefined && <div className="max-w-prose text-pretty text-soft">{lead}</div>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** The first page of a visit is read from its top by itself; the ones after it are not. */
const visit = { isFirst: true }

/** Names the browser's tab and gives the focus to the heading, unless a field has taken it. */
export function useArrival(title: string) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { data: brand } = useQuery(brandAsk)
  const name = brand?.name
  useEffect(() => {
    document.title = name === undefined ? title : `${title} · ${name}`
  }, [title, name])
  useEffect(() => {
    const isTaken = document.activeElement?.closest('main') != null
    if (!visit.isFirst && !isTaken) heading.current?.focus({ preventScroll: true })
    visit.isFirst = false
  }, [])
  return heading
}
