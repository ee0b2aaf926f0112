// A page inside the frame: its heading, its title in the browser's tab, its parts in a column. The
// heading takes the focus after navigation, so that screen readers announce the new page.
import { type ReactNode, useContext, useEffect, useRef } from 'react'
import { classes } from './classes.ts'
import { Head } from './head.ts'
import { useSiteName } from './site-name.ts'

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
          <h1 ref={heading} tabIndex={-1} className="text-2xl wrap-anywhere sm:text-3xl">
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

/** Screen readers read the first page of a visit by themselves; the focus stays where it is. */
const visit = { isFirst: true }

/** Sets the title of the tab and moves the focus to the heading, unless a field has it. */
export function useArrival(title: string) {
  const heading = useRef<HTMLHeadingElement>(null)
  const name = useSiteName()
  const head = useContext(Head)
  if (head !== undefined) head.title = title
  useEffect(() => {
    document.title = name === undefined ? title : `${title} · ${name}`
  }, [title, name])
  useEffect(() => {
    const hasFocus = document.activeElement?.closest('main') != null
    if (!visit.isFirst && !hasFocus) heading.current?.focus({ preventScroll: true })
    visit.isFirst = false
  }, [])
  return heading
}
