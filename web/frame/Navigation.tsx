// The navigation of the cabinet: a row in the top bar, or a bar at the bottom of a phone. A new
// section adds its line to `sections`.
import { Link, useLocation } from '@tanstack/react-router'
import { ChartColumn, House, KeyRound, PackagePlus, ReceiptText, Settings } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { paths } from '../paths.ts'

const sections = [
  { to: paths.home, name: 'nav.home', icon: House, also: undefined },
  { to: paths.usage, name: 'nav.usage', icon: ChartColumn, also: /^\/sessions$/ },
  { to: paths.packs, name: 'nav.packs', icon: PackagePlus, also: undefined },
  { to: paths.payments, name: 'nav.payments', icon: ReceiptText, also: /^\/(?:orders\/|top-up$)/ },
  { to: paths.key, name: 'nav.key', icon: KeyRound, also: undefined },
  {
    to: paths.settings,
    name: 'nav.settings',
    icon: Settings,
    also: /^\/(?:security|limits|privacy|review)$/,
  },
] as const

/** The sections with the current one marked; some have more pages than the one they link to. */
function useSections() {
  const { pathname } = useLocation()
  return sections.map(({ also, ...section }) => {
    const isCurrent = pathname === section.to || also?.test(pathname) === true
    return { ...section, current: isCurrent ? ({ 'aria-current': 'page' } as const) : {} }
  })
}

/** Whether the page is one of the settings, to which a phone's navigation has no link. */
export function useIsInSettings(): boolean {
  return useSections().some(({ to, current }) => to === paths.settings && 'aria-current' in current)
}

export function TopNavigation() {
  const { t } = useTranslation()
  return (
    <nav aria-label={t('nav.label')} className="hidden gap-1 lg:flex">
      {useSections().map(({ to, name, current }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: true }}
          {...current}
          className="flex min-h-10 items-center rounded-part px-3 text-soft hover:bg-sunk
            hover:text-ink aria-[current=page]:bg-tint aria-[current=page]:font-medium
            aria-[current=page]:text-accent-deep"
        >
          {t(name)}
        </Link>
      ))}
    </nav>
  )
}

/** The smallest phone has room for five; the settings are also in the account menu. */
export function BottomNavigation() {
  const { t } = useTranslation()
  const shown = useSections().filter(({ to }) => to !== paths.settings)
  return (
    <nav
      aria-label={t('nav.label')}
      // With very large text it becomes a list at the end of the page, so that nothing is cut off.
      className="fixed inset-x-0 bottom-0 z-30 grid grid-cols-5 border-t border-line bg-sheet
        pb-[env(safe-area-inset-bottom)] max-[20em]:static max-[20em]:grid-cols-2 lg:hidden"
    >
      {shown.map(({ to, name, icon: Icon, current }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: true }}
          {...current}
          className="grid min-h-14 min-w-0 place-items-center content-center gap-0.5 px-0.5
            text-[0.6875rem] text-soft max-[22rem]:text-[0.625rem] aria-[current=page]:font-semibold
            aria-[current=page]:text-accent"
        >
          <Icon aria-hidden className="size-5" />
          <span className="max-w-full">{t(name)}</span>
        </Link>
      ))}
    </nav>
  )
}
