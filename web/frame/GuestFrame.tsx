// The frame of the pages without a session: logo, language and theme switches, one narrow sheet,
// footer.
import { Outlet } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext } from 'react'
import { classes } from '../ui/classes.ts'
import { useArrival } from '../ui/Page.tsx'
import { BrandMark } from './BrandMark.tsx'
import { Footer } from './Footer.tsx'
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

/** Whether a frame is around: an error page inside the account's frame must not add a guest's. */
const FramedContext = createContext(false)

/** Marks what is inside a frame. */
export function Framed({ children }: { readonly children: ReactNode }) {
  return <FramedContext value={true}>{children}</FramedContext>
}

/** The frame around a page that may have none, such as the one for unknown addresses. */
export function GuestShell(props: {
  readonly children: ReactNode
  /** Adds the navigation of the public pages. */
  readonly isSite?: boolean
}) {
  const { children, isSite = false } = props
  const isFramed = useContext(FramedContext)
  if (isFramed) return <div className="grid w-full justify-items-center">{children}</div>
  return (
    <div className="flex min-h-dvh flex-col">
      <SkipLink />
      <header className="mx-auto grid w-full max-w-6xl grid-cols-1 px-4 py-3 sm:px-6">
        <div className="flex flex-wrap items-center gap-x-1">
          <div className="me-auto min-w-0 lg:me-4">
            <BrandMark />
          </div>
          <SiteNavigation className="me-auto hidden lg:flex" />
          <LanguageSwitch />
          {/* The smallest phones have no room for it beside the sign-in button. */}
          <div className={classes(isSite && 'max-[22rem]:hidden')}>
            <ThemeSwitch />
          </div>
          {isSite && <AccountLink />}
        </div>
        {isSite && <SiteNavigation className="-mx-2 mt-1 flex lg:hidden" />}
      </header>
      <main
        id="content"
        className="mx-auto grid w-full max-w-6xl flex-1 content-start justify-items-center px-4 pt-4
          pb-12 sm:px-6 sm:pt-10"
      >
        <Framed>{children}</Framed>
      </main>
      <Footer />
    </div>
  )
}

/** The sheet of a guest page: the striped bar, a heading, a form. */
export function GuestSheet(props: {
  readonly title: string
  readonly lead?: ReactNode
  readonly children?: ReactNode
  /** Links below the sheet to other pages. */
  readonly below?: ReactNode
}) {
  const { title, lead, children, below } = props
  const heading = useArrival(title)
  return (
    <div className="grid w-full max-w-md gap-5">
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
      {below !== undefined && <div className="text-center">{below}</div>}
    </div>
  )
}
