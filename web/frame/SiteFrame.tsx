// The frame of the public pages, for visitors and owners alike, and a page inside it with a title
// and a description for search engines.
import { Outlet } from '@tanstack/react-router'
import { type ReactNode, useContext, useEffect } from 'react'
import { Head } from '../ui/head.ts'
import { Page } from '../ui/Page.tsx'
import { GuestShell } from './GuestFrame.tsx'

export function SiteFrame({ children }: { readonly children?: ReactNode }) {
  return <GuestShell isSite>{children ?? <Outlet />}</GuestShell>
}

export function SitePage(props: {
  readonly title: string
  readonly description: string
  readonly lead?: ReactNode
  readonly isNarrow?: boolean
  readonly children: ReactNode
}) {
  const { description, isNarrow = false, ...page } = props
  useDescription(description)
  return (
    <div className={isNarrow ? 'w-full max-w-3xl' : 'w-full'}>
      <Page {...page} />
    </div>
  )
}

/** The description that search engines show below the title; other pages have none. */
export function useDescription(text: string): void {
  const head = useContext(Head)
  if (head !== undefined) head.description = text
  useEffect(() => {
    const meta = document.querySelector('meta[name="description"]')
    meta?.setAttribute('content', text)
    return () => meta?.setAttribute('content', '')
  }, [text])
}
