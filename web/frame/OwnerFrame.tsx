// The frame of the signed-in pages: top bar with the balance, the page, the footer, and on a phone
// the navigation bar at the bottom.
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { ClosingBanner } from '../account/ClosingBanner.tsx'
import { ConsentBanner } from '../account/ConsentBanner.tsx'
import { RecoveryBanner } from '../account/RecoveryBanner.tsx'
import { ReviewBanner } from '../account/ReviewBanner.tsx'
import { useFormat } from '../format/use-format.ts'
import { paths } from '../paths.ts'
import { useLive } from '../runtime/live.ts'
import { homeQuery } from '../runtime/queries.ts'
import { AccountMenu } from './AccountMenu.tsx'
import { BrandMark } from './BrandMark.tsx'
import { Footer } from './Footer.tsx'
import { Framed } from './framed.tsx'
import { BottomNavigation, TopNavigation } from './Navigation.tsx'
import { Offline } from './Offline.tsx'
import { SkipLink } from './SkipLink.tsx'

/** `children`: a page without a route, such as the one for unknown addresses. */
export function OwnerFrame({ children }: { readonly children?: ReactNode }) {
  useLive()
  return (
    <div className="flex min-h-dvh flex-col max-lg:pb-[calc(3.5rem+env(safe-area-inset-bottom))]">
      <SkipLink />
      <header className="sticky top-0 z-20 border-b border-line bg-sheet">
        <div
          className="frame-width flex flex-wrap items-center gap-2 px-4 py-2 sm:gap-6
            sm:px-6"
        >
          <BrandMark />
          <TopNavigation />
          <div className="ms-auto flex items-center gap-1 sm:gap-3">
            <Balance />
            <AccountMenu />
          </div>
        </div>
      </header>
      <Offline />
      <main id="content" className="frame-width flex-1 px-4 py-6 sm:px-6 sm:py-10">
        <ConsentBanner />
        <RecoveryBanner />
        <ReviewBanner />
        <ClosingBanner />
        <Framed>{children ?? <Outlet />}</Framed>
      </main>
      <Footer />
      <BottomNavigation />
    </div>
  )
}

/** The available credits, linked to the packs. */
function Balance() {
  const { t } = useTranslation()
  const format = useFormat()
  const { data: home } = useQuery(homeQuery)
  if (home === undefined) return <span aria-hidden className="h-10 w-20 rounded-part bg-sunk" />
  const { available } = home.balance
  const shown = format.creditsShort(available)
  return (
    <Link
      to={paths.packs}
      title={format.credits(available)}
      className="grid min-h-10 content-center rounded-part px-2.5 text-end leading-tight
        hover:bg-sunk"
    >
      <span className="text-xs text-soft">{t('balance.label')}</span>
      <span className="figures font-semibold whitespace-nowrap">{shown}</span>
      <span className="sr-only">{t('balance.topUp')}</span>
    </Link>
  )
}
