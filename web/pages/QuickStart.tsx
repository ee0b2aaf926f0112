// The public quick start: the examples of the key page, with a placeholder for the key.
import { useQuery } from '@tanstack/react-query'
import { Trans, useTranslation } from 'react-i18next'
import { SitePage } from '../frame/SiteFrame.tsx'
import { paths } from '../paths.ts'
import { brandQuery, meQuery } from '../runtime/queries.ts'
import { Banner } from '../ui/Banner.tsx'
import { ButtonLink } from '../ui/Button.tsx'
import { Panel } from '../ui/parts.tsx'
import { QueryView } from '../ui/QueryView.tsx'
import { TextLink } from '../ui/TextLink.tsx'
import { QuickStartPanel } from './key/QuickStartPanel.tsx'

export function QuickStart() {
  const { t } = useTranslation()
  const { data: me } = useQuery(meQuery)
  return (
    <SitePage
      isNarrow
      title={t('begin.title')}
      description={t('begin.description')}
      lead={t('begin.lead')}
    >
      <Banner
        actions={
          me != null ? (
            <ButtonLink to={paths.key} isSmall tone="main">
              {t('nav.key')}
            </ButtonLink>
          ) : (
            <ButtonLink to={paths.register} isSmall tone="main">
              {t('site.register')}
            </ButtonLink>
          )
        }
      >
        {t('begin.first')}
      </Banner>
      <QueryView query={useQuery(brandQuery)} lines={8}>
        {(brand) => <QuickStartPanel brand={brand} last4="" reveal={undefined} />}
      </QueryView>
      <Panel title={t('begin.streams')}>
        <div className="grid max-w-prose gap-3">
          <p>{t('begin.streamsText')}</p>
          <p>
            <Trans
              i18nKey="begin.more"
              components={{
                a: <TextLink to={paths.prices} />,
                b: <TextLink to={paths.charging} />,
              }}
            />
          </p>
        </div>
      </Panel>
    </SitePage>
  )
}
