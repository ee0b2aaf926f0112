// The details of one request: how it ended, the calculation of its charge line by line, and the ids
// that support needs.
import { useQuery } from '@tanstack/react-query'
import { Trans, useTranslation } from 'react-i18next'
import type { LogDetails } from '../../../../src/cabinet/contract/usage.ts'
import { secondsText, tokensPerSecond } from '../../../format/durations.ts'
import { useFormat } from '../../../format/use-format.ts'
import { brandQuery, loggedRequestQuery } from '../../../runtime/queries.ts'
import { Credits } from '../../../ui/amounts.tsx'
import { CopyButton } from '../../../ui/CopyButton.tsx'
import { Facts } from '../../../ui/parts.tsx'
import { QueryView } from '../../../ui/QueryView.tsx'
import { TextAnchor } from '../../../ui/TextLink.tsx'
import { CostTable } from './CostTable.tsx'
import { statusIn } from './endings.ts'

export function RequestDetails({ id, box }: { readonly id: string; readonly box: string }) {
  return (
    <div id={box} className="rounded-box border border-line bg-sunk p-4 sm:p-5">
      <QueryView query={useQuery(loggedRequestQuery(id))} lines={4}>
        {(request) => <RequestDetailsContent request={request} />}
      </QueryView>
    </div>
  )
}

function RequestDetailsContent({ request }: { readonly request: LogDetails }) {
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandQuery)
  const { ending, reason, parts, isEstimated } = request
  const status = statusIn(reason)
  const email = brand?.supportEmail ?? ''
  return (
    <div className="grid gap-5 lg:grid-cols-2 lg:gap-8">
      <div className="grid min-w-0 content-start gap-4">
        <p>
          {t(`usage.endingText.${ending}`)}
          {status !== undefined && ` ${t('usage.one.status', { status })}`}
        </p>
        {parts.length > 0 && <CostTable request={request} />}
        {isEstimated && <p className="text-sm text-soft">{t('usage.one.estimated')}</p>}
      </div>
      <div className="grid min-w-0 content-start gap-4">
        <RequestFacts request={request} />
        <p className="text-sm text-soft">
          <Trans
            i18nKey="usage.one.support"
            values={{ email }}
            components={{ a: <TextAnchor href={`mailto:${email}?subject=${request.id}`} /> }}
          />
        </p>
      </div>
    </div>
  )
}

function RequestFacts({ request }: { readonly request: LogDetails }) {
  const { t } = useTranslation()
  const { id, reason, balanceAfter, catalogueVersion, messageId, stopReason, errorType } = request
  const code = (text: string) => (
    <code translate="no" className="text-sm break-all">
      {text}
    </code>
  )
  return (
    <>
      <Facts
        facts={[
          { name: t('usage.one.balanceAfter'), value: <Credits value={balanceAfter} /> },
          ...useTimes(request),
          ...(stopReason === null
            ? []
            : [{ name: t('usage.one.stopReason'), value: code(stopReason) }]),
          ...(errorType === null
            ? []
            : [{ name: t('usage.one.errorType'), value: code(errorType) }]),
          ...(catalogueVersion === null
            ? []
            : [{ name: t('usage.one.catalogue'), value: catalogueVersion }]),
          { name: t('usage.one.request'), value: code(id) },
          ...(messageId === null ? [] : [{ name: t('usage.one.message'), value: code(messageId) }]),
          ...(reason === null ? [] : [{ name: t('usage.one.reason'), value: code(reason) }]),
        ]}
      />
      <div>
        <CopyButton value={id} label={t('usage.one.copyRequest')} />
      </div>
    </>
  )
}

/** Only what was recorded: requests of earlier versions have no times. */
function useTimes(request: LogDetails) {
  const { t } = useTranslation()
  const format = useFormat()
  const { firstByteMs, totalMs, isStream } = request
  const speed = tokensPerSecond(request)
  const times = { firstByte: firstByteMs, total: totalMs } as const
  return [
    ...(['firstByte', 'total'] as const).flatMap((name) => {
      const ms = times[name]
      const value = ms === null ? '' : secondsText(format.language, ms)
      return ms === null ? [] : [{ name: t(`usage.one.${name}`), value }]
    }),
    ...(speed === undefined
      ? []
      : [
          {
            name: t('usage.one.speed'),
            value: t('usage.log.speed', { shown: format.whole(speed) }),
          },
        ]),
    ...(isStream === null
      ? []
      : [
          {
            name: t('usage.one.form'),
            value: t(isStream ? 'usage.log.stream' : 'usage.one.plain'),
          },
        ]),
  ]
}
