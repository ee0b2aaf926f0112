// The programs and libraries that have a page of their own in the documentation.
import { Link } from '@tanstack/react-router'
import { ArrowRight } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { paths } from '../../paths.ts'
import { docsSections } from '../docs/pages.ts'
import { Section } from './Section.tsx'

const [, { pages: programs }] = docsSections

export function Programs() {
  const { t } = useTranslation()
  return (
    <Section title={t('front.programs.title')} lead={t('front.programs.lead')}>
      <ul className="grid grid-cols-2 gap-3 md:grid-cols-3">
        {programs.map((page) => (
          <li key={page} className="grid min-w-0">
            <Link
              to={paths.docs}
              params={{ page }}
              className="group flex min-h-14 items-center justify-between gap-2 rounded-box border
                border-line bg-sheet px-4 py-2 font-medium hover:border-edge hover:bg-sunk sm:px-5"
            >
              <span className="min-w-0 wrap-anywhere">{t(`docs.pages.${page}`)}</span>
              <ArrowRight
                aria-hidden
                className="size-4 shrink-0 text-accent max-sm:hidden group-hover:translate-x-0.5"
              />
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}
