// The navigation of the console: a row in the top bar, or a bar at the bottom of a phone, where a
// menu has what does not fit. A section is shown to those whose role may read it.
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import {
  BellRing,
  CalendarDays,
  Ellipsis,
  Gauge,
  Inbox,
  ScrollText,
  Search,
  Tag,
  Waypoints,
} from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Menu, MenuItem } from '../../ui/Menu.tsx'
import { paths } from '../paths.ts'
import { useMay } from '../use-me.ts'

/** A phone shows five things side by side; with more sections, the fifth is a menu. */
const SIDE_BY_SIDE = 5

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
    to: paths.alarms,
    name: 'console.alarms.nav',
    icon: BellRing,
    needs: 'health.read',
    also: /^\/runbooks\//,
  },
  {
    to: paths.upstreams,
    name: 'console.credentials.nav',
    icon: Waypoints,
    needs: 'upstreams.read',
    also: /^$/,
  },
  {
    to: paths.catalogue,
    name: 'console.catalogue.nav',
    icon: Tag,
    needs: 'prices.read',
    also: /^\/catalogue\//,
  },
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
    <nav aria-label={t('nav.label')} className="hidden gap-1 xl:flex">
      {useSections().map(({ to, name, current }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: true }}
          {...current}
          className="flex min-h-10 items-center rounded-part px-2 text-sm text-soft hover:bg-sunk
            hover:text-ink aria-[current=page]:bg-tint aria-[current=page]:font-medium
            aria-[current=page]:text-accent-deep"
        >
          {t(name)}
        </Link>
      ))}
    </nav>
  )
}

const barItem =
  'grid min-h-14 min-w-0 flex-1 place-items-center content-center gap-0.5 px-0.5 ' +
  'text-[0.6875rem] text-soft aria-[current=page]:font-semibold aria-[current=page]:text-accent'

export function BottomNavigation() {
  const { t } = useTranslation()
  const all = useSections()
  const shown = all.length > SIDE_BY_SIDE ? all.slice(0, SIDE_BY_SIDE - 1) : all
  return (
    <nav
      aria-label={t('nav.label')}
      className="fixed inset-x-0 bottom-0 z-30 flex border-t border-line bg-sheet
        pb-[env(safe-area-inset-bottom)] xl:hidden print:hidden"
    >
      {shown.map(({ to, name, icon: Icon, current }) => (
        <Link key={to} to={to} activeOptions={{ exact: true }} {...current} className={barItem}>
          <Icon aria-hidden className="size-5" />
          <span className="max-w-full">{t(name)}</span>
        </Link>
      ))}
      {all.length > shown.length && <MoreMenu sections={all.slice(shown.length)} />}
    </nav>
  )
}

function MoreMenu(props: { readonly sections: ReturnType<typeof useSections> }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const isCurrent = (current: object) => 'aria-current' in current
  const here = props.sections.find(({ current }) => isCurrent(current))
  return (
    <Menu
      trigger={
        <button type="button" {...here?.current} className={barItem}>
          <Ellipsis aria-hidden className="size-5" />
          <span className="max-w-full">{t('console.alarms.more')}</span>
        </button>
      }
    >
      {props.sections.map(({ to, name, icon, current }) => (
        <MenuItem
          key={to}
          icon={icon}
          isCurrent={isCurrent(current)}
          onSelect={() => void navigate({ to })}
        >
          {t(name)}
        </MenuItem>
      ))}
    </Menu>
  )
}
