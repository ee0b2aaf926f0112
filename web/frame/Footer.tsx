// The footer of every page: support, documents, the seller's details, and the statement that we are
// independent of the vendor.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { paths } from '../paths.ts'
import { currentLanguage } from '../runtime/language.ts'
import { brandQuery } from '../runtime/queries.ts'
import { TextAnchor, TextLink } from '../ui/TextLink.tsx'
import { siteLinks } from './SiteNavigation.tsx'

export function Footer() {
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandQuery)
  const language = currentLanguage()
  if (brand === undefined) return null
  const { name, supportEmail, documents, requisites } = brand
  return (
    <footer className="border-t border-line text-sm text-soft">
      <div className="frame-width grid gap-6 px-4 py-8 sm:px-6">
        <div className="flex flex-wrap gap-x-12 gap-y-6">
          <div className="grid content-start gap-1">
            <p className="font-medium text-ink">{t('footer.help')}</p>
            <TextAnchor href={`mailto:${supportEmail}`} className="py-1 break-all">
              {supportEmail}
            </TextAnchor>
          </div>
          <div className="grid content-start gap-1">
            <p className="font-medium text-ink">{t('site.title')}</p>
            <ul>
              {siteLinks.map(({ to, name }) => (
                <li key={to}>
                  <TextLink to={to} className="inline-block py-1">
                    {t(name)}
                  </TextLink>
                </li>
              ))}
            </ul>
          </div>
          {documents.length > 0 && (
            <div className="grid content-start gap-1">
              <p className="font-medium text-ink">{t('footer.documents')}</p>
              <ul>
                {documents.map((one) => (
                  <li key={one.document}>
                    <TextLink
                      to={paths.document}
                      params={{ document: one.document }}
                      className="inline-block py-1"
                    >
                      {one.title[language]}
                    </TextLink>
                  </li>
                ))}
              </ul>
            </div>
          )}
          {requisites.length > 0 && (
            <div className="grid content-start gap-1">
              <p className="font-medium text-ink">{t('footer.seller')}</p>
              <ul>
                {requisites.map((line) => (
                  <li key={line} className="py-0.5">
                    {line}
                  </li>
                ))}
              </ul>
            </div>
          )}
        </div>
        <p className="max-w-prose">{t('footer.independent', { name })}</p>
      </div>
    </footer>
  )
}
