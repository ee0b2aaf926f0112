// The frame of the console: top bar with search and the person's menu, the page, and on a phone the
// navigation at the bottom.
import { Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Framed } from '../../frame/framed.tsx'
import { Offline } from '../../frame/Offline.tsx'
import { SkipLink } from '../../frame/SkipLink.tsx'
import { SiteName } from '../../ui/site-name.ts'
import { useMe } from '../use-me.ts'
import { Brand } from './Brand.tsx'
import { BottomNavigation, TopNavigation } from './Navigation.tsx'
import { PersonMenu } from './PersonMenu.tsx'
import { SearchField } from './SearchField.tsx'

/** `children`: a page without a route. */
export function Frame({ children }: { readonly children?: ReactNode }) {
  const me = useMe()
  if (me === null) return null
  return (
    <SiteName value={me.brand}>
      <div className="flex min-h-dvh flex-col max-xl:pb-[calc(3.5rem+env(safe-area-inset-bottom))]">
        <SkipLink />
        <header className="sticky top-0 z-20 border-b border-line bg-sheet print:hidden">
          <div
            className="mx-auto flex w-full max-w-6xl flex-wrap items-center gap-x-4 gap-y-2 px-4
              py-2 sm:px-6 xl:flex-nowrap"
          >
            <Brand name={me.brand} />
            <TopNavigation />
            <div className="ms-auto flex min-w-0 items-center gap-2 max-sm:w-full">
              <SearchField />
              <PersonMenu me={me} />
            </div>
          </div>
        </header>
        <Offline />
        <main id="content" className="mx-auto w-full max-w-6xl flex-1 px-4 py-6 sm:px-6 sm:py-8">
          <Framed>{children ?? <Outlet />}</Framed>
        </main>
        <BottomNavigation />
      </div>
    </SiteName>
  )
}
