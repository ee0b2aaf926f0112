// The history of the catalogue: who applied which version, when and why.
import { useTranslation } from 'react-i18next'
import type { CatalogueVersion } from '../../../src/operator/console/contract/catalogue.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'

export function Versions({ versions }: { readonly versions: readonly CatalogueVersion[] }) {
  const { t } = useTranslation()
  return (
    <Panel title={t('console.catalogue.versions')}>
      <ol className="grid">
        {versions.map(({ version, appliedAt, by, note }, index) => (
          <li
            key={version}
            className="grid gap-1 border-b border-line py-3 first:pt-0 last:border-0 last:pb-0"
          >
            <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
              <TextLink to={paths.catalogueVersion} params={{ version: String(version) }}>
                {t('console.catalogue.version', { version })}
              </TextLink>
              {index === 0 && <Badge tone="good">{t('console.catalogue.inForce')}</Badge>}
              <span className="text-sm text-soft">
                <Moment at={appliedAt} />
              </span>
              <span className="text-sm text-soft wrap-anywhere">{by}</span>
            </div>
            <p className="wrap-anywhere">
              {note === '' ? (
                <span className="text-soft">{t('console.catalogue.noReason')}</span>
              ) : (
                note
              )}
            </p>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
