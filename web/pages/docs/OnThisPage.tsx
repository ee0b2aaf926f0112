// The sections of the page beside its text, with the one that is being read marked.
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Heading, plainText } from '../../ui/markdown/blocks.ts'

/** A section is being read once its heading has passed this part of the window. */
const READING_LINE = 0.3

export function OnThisPage({ headings }: { readonly headings: readonly Heading[] }) {
  const { t } = useTranslation()
  const current = useCurrentSection(headings)
  if (headings.length < 2) return null
  return (
    <nav aria-label={t('docs.onPage')} className="grid gap-2 text-sm">
      <p className="ps-3 text-xs font-medium tracking-wide text-soft uppercase">
        {t('docs.onPage')}
      </p>
      <ul className="border-s border-line">
        {headings.map(({ id, inside }) => (
          <li key={id}>
            <a
              href={`#${id}`}
              {...(id === current ? { 'aria-current': 'location' } : {})}
              className="-ms-px block border-s-2 border-transparent py-1 ps-3 text-soft
                wrap-anywhere hover:text-ink aria-[current=location]:border-accent
                aria-[current=location]:text-ink"
            >
              {plainText(inside)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function useCurrentSection(headings: readonly Heading[]): string | undefined {
  const [current, setCurrent] = useState<string>()
  useEffect(() => {
    const update = () => {
      const line = window.innerHeight * READING_LINE
      const passed = headings.findLast(({ id }) => {
        const top = document.getElementById(id)?.getBoundingClientRect().top
        return top !== undefined && top <= line
      })
      setCurrent(passed?.id)
    }
    update()
    window.addEventListener('scroll', update, { passive: true })
    return () => window.removeEventListener('scroll', update)
  }, [headings])
  return current
}
