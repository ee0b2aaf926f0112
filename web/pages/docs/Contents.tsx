// The pages of the documentation: a column beside the text, or a list that opens above it.
import { Link } from '@tanstack/react-router'
import { ChevronDown } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { paths } from '../../paths.ts'
import { type DocsName, docsSections } from './pages.ts'

export function ContentsColumn() {
  const { t } = useTranslation()
  return (
    <nav aria-label={t('docs.parts')}>
      <Sections />
    </nav>
  )
}

/** Closes when a page is chosen: `name` is its key. */
export function ContentsList({ name }: { readonly name: DocsName }) {
  const { t } = useTranslation()
  return (
    <details key={name} className="group rounded-part border border-line bg-sheet">
      <summary
        className="flex min-h-11 list-none items-center gap-2 px-3
          [&::-webkit-details-marker]:hidden"
      >
        <span className="text-soft">{t('docs.title')}:</span>
        <span className="me-auto font-medium">{t(`docs.pages.${name}`)}</span>
        <ChevronDown aria-hidden className="size-4 shrink-0 group-open:rotate-180" />
      </summary>
      <nav aria-label={t('docs.parts')} className="border-t border-line p-3">
        <Sections />
      </nav>
    </details>
  )
}

function Sections() {
  const { t } = useTranslation()
  return (
    <div className="grid gap-5">
      {docsSections.map(({ id, pages }) => (
        <div key={id} className="grid gap-1">
          <p className="px-3 text-xs font-medium tracking-wide text-soft uppercase">
            {t(`docs.sections.${id}`)}
          </p>
          <ul className="grid">
            {pages.map((name) => (
              <li key={name}>
                <Link
                  to={paths.docs}
                  params={{ page: name }}
                  activeOptions={{ exact: true, includeHash: false, includeSearch: false }}
                  className="flex min-h-9 items-center rounded-part px-3 text-soft hover:bg-sunk
                    hover:text-ink aria-[current=page]:bg-tint aria-[current=page]:font-medium
                    aria-[current=page]:text-accent-deep max-lg:min-h-11"
                >
                  {t(`docs.pages.${name}`)}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  )
}
