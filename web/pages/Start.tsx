// The quick start for everybody: the examples of the key page, with a place for the key in them.
import { useQuery } from '@tanstack/react-query'
import { Trans, useTranslation } from 'react-i18next'
import { SitePage } from '../frame/SiteFrame.tsx'
import { paths } from '../paths.ts'
import { brandAsk, meAsk } from '../runtime/asks.ts'
import { Asked } from '../ui/Asked.tsx'
import { Banner } from '../ui/Banner.tsx'
import { ButtonLink } from '../ui/Button.tsx'
import { Panel } from '../ui/parts.tsx'
import { TextLink } from '../ui/TextLink.tsx'
import { QuickStart } from './key/QuickStart.tsx'

export function Start() {
  const { t } = useTranslation()
  const { data: me } = useQuery(meAsk)
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
      <Asked query={useQuery(brandAsk)} lines={8}>
        {(brand) => <QuickStart brand={brand} last4="" reveal={undefined} />}
      </Asked>
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
