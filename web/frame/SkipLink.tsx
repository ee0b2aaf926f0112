// The first link that the keyboard reaches: it skips the navigation and leads to the page.
import { useTranslation } from 'react-i18next'

export function SkipLink() {
  const { t } = useTranslation()
  return (
    <a
      href="#content"
      className="sr-only rounded-part bg-accent text-on-accent focus:not-sr-only focus:fixed
        focus:start-3 focus:top-3 focus:z-60 focus:px-4 focus:py-2"
    >
      {t('nav.skip')}
    </a>
  )
}
