// Tabs inside a page. If each tab is a page with its own URL, use TabLinks: such a tab can be
// linked to and survives a reload.
import { Link, type LinkProps } from '@tanstack/react-router'
import { Tabs as Radix } from 'radix-ui'
import { type ReactNode, useEffect, useRef } from 'react'

// Smaller on a phone, so that all tabs of the settings fit in Russian.
const tabClasses =
  'min-h-11 shrink-0 border-b-2 border-transparent px-2.5 font-medium text-soft hover:text-ink ' +
  'max-sm:px-1.5 max-sm:text-sm ' +
  'data-[state=active]:border-accent data-[state=active]:text-ink ' +
  'aria-[current=page]:border-accent aria-[current=page]:text-ink'
const listClasses = 'flex gap-1 max-sm:gap-0 overflow-x-auto border-b border-line'

export type Tab = { readonly id: string; readonly label: string; readonly content: ReactNode }

export function Tabs(props: {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly value?: string
  readonly onChange?: (id: string) => void
}) {
  const { label, tabs, value, onChange } = props
  const control =
    value === undefined
      ? { defaultValue: tabs[0]?.id ?? '' }
      : { value, onValueChange: (id: string) => onChange?.(id) }
  return (
    <Radix.Root {...control} className="grid gap-4">
      <Radix.List aria-label={label} className={listClasses}>
        {tabs.map((tab) => (
          <Radix.Trigger key={tab.id} value={tab.id} className={tabClasses}>
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.id} value={tab.id}>
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}

export function TabLinks(props: {
  readonly label: string
  readonly links: readonly (Pick<LinkProps, 'to' | 'params'> & { readonly label: string })[]
}) {
  const nav = useRef<HTMLElement>(null)
  // On a phone the tab of the current page may be outside of the visible part.
  useEffect(() => {
    const current = nav.current?.querySelector('[aria-current=page]')
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [])
  return (
    <nav ref={nav} aria-label={props.label} className={listClasses}>
      {props.links.map(({ label, ...link }) => (
        <Link
          key={label}
          {...link}
          // A page keeps its tab whatever it shows.
          activeOptions={{ exact: true, includeSearch: false }}
          className={`${tabClasses} inline-flex items-center`}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
