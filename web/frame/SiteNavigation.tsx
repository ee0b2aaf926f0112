// The navigation of the public pages, and the link from them to the account area.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { paths } from '../paths.ts'
import { meQuery } from '../runtime/queries.ts'
import { ButtonLink } from '../ui/Button.tsx'
import { classes } from '../ui/classes.ts'

export const siteLinks = [
  { to: paths.prices, name: 'site.prices', short: 'site.prices' },
  { to: paths.charging, name: 'site.charging', short: 'site.chargingShort' },
  { to: paths.docsHome, name: 'docs.title', short: 'docs.title' },
  { to: paths.status, name: 'site.status', short: 'site.statusShort' },
] as const

/** A row that scrolls sideways on phones narrower than 390 pixels. */
export function SiteNavigation({ className }: { readonly className: string }) {
  const { t } = useTranslation()
  return (
    <nav aria-label={t('site.label')} className={classes('gap-1 overflow-x-auto', className)}>
      {siteLinks.map(({ to, short }) => (
        <Link
          key={to}
          to={to}
          // Of the documentation, every page.
          activeOptions={{ exact: to !== paths.docsHome, includeSearch: false }}
          className="flex min-h-11 shrink-0 items-center rounded-part px-2 text-soft max-lg:text-sm
            sm:px-3 hover:bg-sunk hover:text-ink aria-[current=page]:bg-tint
            aria-[current=page]:font-medium aria-[current=page]:text-accent-deep"
        >
          {t(short)}
        </Link>
      ))}
    </nav>
  )
}

/** Links owners to the account area and visitors to the sign-in. */
export function AccountLink() {
  const { t } = useTranslation()
  const { data: me } = useQuery(meQuery)
  if (me === undefined) return null
  return me === null ? (
    <ButtonLink to={paths.signIn} isSmall>
      {t('site.signIn')}
    </ButtonLink>
  ) : (
    <ButtonLink to={paths.home} isSmall>
      {t('site.cabinet')}
    </ButtonLink>
  )
}
