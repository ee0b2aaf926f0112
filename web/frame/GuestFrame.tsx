// The frame of the pages without a session: logo, language and theme switches, one narrow sheet,
// footer.
import { Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { classes } from '../ui/classes.ts'
import { Sheet } from '../ui/Sheet.tsx'
import { BrandMark } from './BrandMark.tsx'
import { Footer } from './Footer.tsx'
import { Framed, useIsFramed } from './framed.tsx'
import { AccountLink, SiteNavigation } from './SiteNavigation.tsx'
import { SkipLink } from './SkipLink.tsx'
import { LanguageSwitch, ThemeSwitch } from './Switches.tsx'

export function GuestFrame() {
  return (
    <GuestShell>
      <Outlet />
    </GuestShell>
  )
}

/** The frame around a page that may have none, such as the one for unknown addresses. */
export function GuestShell(props: {
  readonly children: ReactNode
  /** Adds the navigation of the public pages. */
  readonly isSite?: boolean
}) {
  const { children, isSite = false } = props
  const isFramed = useIsFramed()
  if (isFramed) return <div className="grid w-full justify-items-center">{children}</div>
  return (
    <div className="flex min-h-dvh flex-col">
      <SkipLink />
      <header className="frame-width grid grid-cols-1 px-4 py-3 sm:px-6">
        <div className="flex flex-wrap items-center gap-x-1">
          <div className="me-auto min-w-0 lg:me-4">
            <BrandMark />
          </div>
          <SiteNavigation className="me-auto hidden lg:flex" />
          {/* A phone has room for one row in both languages, but not for this picture. */}
          <div className="max-sm:[&_svg]:hidden">
            <LanguageSwitch />
          </div>
          {/* Smaller phones have no room for it beside the sign-in button. */}
          <div className={classes(isSite && 'max-[24rem]:hidden')}>
            <ThemeSwitch />
          </div>
          {isSite && <AccountLink />}
        </div>
        {isSite && <SiteNavigation className="-mx-2 mt-1 flex lg:hidden" />}
      </header>
      <main
        id="content"
        className="frame-width grid flex-1 content-start justify-items-center px-4 pt-4
          pb-12 sm:px-6 sm:pt-10"
      >
        <Framed>{children}</Framed>
      </main>
      <Footer />
    </div>
  )
}

/** The sheet of a guest page. */
export function GuestSheet(props: {
  readonly title: string
  readonly lead?: ReactNode
  readonly children?: ReactNode
  /** Links below the sheet to other pages. */
  readonly below?: ReactNode
}) {
  const { below, ...sheet } = props
  return (
    <div className="grid w-full max-w-md gap-5">
      <Sheet {...sheet} />
      {below !== undefined && <div className="text-center">{below}</div>}
    </div>
  )
}
