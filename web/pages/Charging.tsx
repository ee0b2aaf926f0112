// The rules of charging for visitors: the formula, what is reserved, and what a request costs that
// was refused, failed or aborted.
import { Trans, useTranslation } from 'react-i18next'
import { SitePage } from '../frame/SiteFrame.tsx'
import { paths } from '../paths.ts'
import { Panel } from '../ui/parts.tsx'
import { TextLink } from '../ui/TextLink.tsx'

const endings = [
  'whole',
  'refused',
  'broken',
  'ours',
  'leftStream',
  'leftPlain',
  'leftEarly',
] as const

export function Charging() {
  const { t } = useTranslation()
  return (
    <SitePage
      title={t('charging.title')}
      description={t('charging.description')}
      lead={t('charging.lead')}
    >
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <div className="grid min-w-0 gap-6">
          <Formula />
          <Hold />
        </div>
        <div className="grid min-w-0 gap-6">
          <Endings />
          <Free />
        </div>
      </div>
    </SitePage>
  )
}

function Formula() {
  const { t } = useTranslation()
  return (
    <Panel title={t('charging.formula')}>
      <div className="grid max-w-prose gap-3">
        <p className="rounded-part bg-sunk px-4 py-3 font-medium">{t('charging.formulaLine')}</p>
        <p>
          <Trans
            i18nKey="charging.formulaText"
            components={{ a: <TextLink to={paths.prices} /> }}
          />
        </p>
        <p>{t('charging.cacheText')}</p>
        <p>{t('charging.moreText')}</p>
      </div>
    </Panel>
  )
}

function Hold() {
  const { t } = useTranslation()
  return (
    <>
      <Panel title={t('charging.hold')}>
        <div className="grid max-w-prose gap-3">
          <p>{t('charging.holdText')}</p>
          <p>{t('charging.holdMore')}</p>
        </div>
      </Panel>
      <Panel title={t('charging.estimate')}>
        <p className="max-w-prose">{t('charging.estimateText')}</p>
      </Panel>
    </>
  )
}

function Endings() {
  const { t } = useTranslation()
  return (
    <Panel title={t('charging.endings')}>
      <dl className="grid">
        {endings.map((ending) => (
          <div
            key={ending}
            className="grid gap-x-8 gap-y-1 border-b border-line py-3 first:pt-0 last:border-0
              last:pb-0 sm:grid-cols-2"
          >
            <dt className="font-medium">{t(`charging.${ending}`)}</dt>
            <dd>{t(`charging.${ending}Cost`)}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  )
}

function Free() {
  const { t } = useTranslation()
  return (
    <>
      <Panel title={t('charging.free')}>
        <ul className="grid list-disc gap-1 ps-5">
          {(['freeCount', 'freeModels', 'freeNo'] as const).map((one) => (
            <li key={one} className="wrap-anywhere">
              {t(`charging.${one}`)}
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title={t('charging.zero')}>
        <p className="max-w-prose">{t('charging.zeroText')}</p>
      </Panel>
    </>
  )
}
