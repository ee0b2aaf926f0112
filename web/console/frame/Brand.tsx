// The name of the service, and that this is the console and not the account area.
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Badge } from '../../ui/parts.tsx'
import { paths } from '../paths.ts'

export function Brand({ name }: { readonly name: string }) {
  const { t } = useTranslation()
  return (
    // The search field beside it gives way, so that the name is not broken into letters.
    <Link
      to={paths.today}
      className="flex min-h-10 max-w-72 shrink-0 items-center gap-2.5 rounded-part"
    >
      <span className="min-w-0 font-serif text-lg font-semibold tracking-tight wrap-anywhere">
        {name}
      </span>
      <Badge>{t('console.name')}</Badge>
    </Link>
  )
}
