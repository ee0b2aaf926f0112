// The navigation of the console: a row in the top bar, or a bar at the bottom of a phone. A section
// is shown to those whose role may read it.
import { Link, useLocation } from '@tanstack/react-router'
import { CalendarDays, Gauge, Inbox, ScrollText, Search } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { paths } from '../paths.ts'
import { useMay } from '../use-me.ts'

const sections = [
  { to: paths.today, name: 'console.nav.today', icon: Gauge, needs: 'figures.read', also: /^$/ },
  {
    to: paths.search,
    name: 'console.nav.search',
    icon: Search,
    needs: 'customers.read',
    also: /^\/(?:accounts|requests)\//,
  },
  { to: paths.queues, name: 'console.nav.queues', icon: Inbox, needs: 'payments.read', also: /^$/ },
  {
    to: paths.months,
    name: 'console.nav.months',
    icon: CalendarDays,
    needs: 'month.read',
    also: /^\/months\//,
  },
  { to: paths.acts, name: 'console.nav.acts', icon: ScrollText, needs: 'acts.read', also: /^$/ },
] as const

function useSections() {
  const { pathname } = useLocation()
  const may = useMay()
  return sections
    .filter(({ needs }) => may(needs))
    .map(({ also, ...section }) => {
      const isCurrent = pathname === section.to || also.test(pathname)
      return { ...section, current: isCurrent ? ({ 'aria-current': 'page' } as const) : {} }
    })
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

export function BottomNavigation() {
  const { t } = useTranslation()
  return (
    <nav
      aria-label={t('nav.label')}
      className="fixed inset-x-0 bottom-0 z-30 flex border-t border-line bg-sheet
        pb-[env(safe-area-inset-bottom)] lg:hidden print:hidden"
    >
      {useSections().map(({ to, name, icon: Icon, current }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: true }}
          {...current}
          className="grid min-h-14 min-w-0 flex-1 place-items-center content-center gap-0.5 px-0.5
            text-[0.6875rem] text-soft aria-[current=page]:font-semibold
            aria-[current=page]:text-accent"
        >
          <Icon aria-hidden className="size-5" />
          <span className="max-w-full">{t(name)}</span>
        </Link>
      ))}
    </nav>
  )
}
