// The logo and the name of the service, linked to the home page.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { paths } from '../paths.ts'
import { brandQuery } from '../runtime/queries.ts'

export function BrandMark() {
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandQuery)
  const name = brand?.name ?? ''
  return (
    <Link
      to={paths.home}
      aria-label={t('nav.brandHome', { name })}
      className="flex min-h-10 min-w-0 items-center gap-2.5 rounded-part"
    >
      <svg viewBox="0 0 32 32" aria-hidden="true" className="size-8 shrink-0">
        <rect width="32" height="32" rx="7" className="fill-accent" />
        <g strokeLinecap="round" className="stroke-on-accent" fill="none">
          <path d="M7 26V11" strokeWidth="3.4" />
          <path d="M7 13.5 26 7" strokeWidth="4.6" />
        </g>
        <path d="m12.4 11.6 3.4-1.2M19.6 9.2l3-1" strokeWidth="4.6" className="stroke-stripe" />
      </svg>
      <span className="min-w-0 font-serif text-lg font-semibold tracking-tight wrap-anywhere">
        {name}
      </span>
    </Link>
  )
}
