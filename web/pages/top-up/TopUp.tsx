// Automatic top-up: the mandate with its controls, the e-mail before a charge, every charge, and
// past mandates with the reason of their end. E-mails about charges link here.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { TopUp as TopUpAnswer } from '../../../src/cabinet/contract/guards.ts'
import { useFormat } from '../../format/use-format.ts'
import { packsQuery, topUpHistoryQuery, topUpQuery } from '../../runtime/queries.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Page } from '../../ui/Page.tsx'
import { PanelSkeletons } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { Charges } from './Charges.tsx'
import { MandatePanel } from './MandatePanel.tsx'
import { NoticePanel } from './NoticePanel.tsx'
import { PastMandates } from './PastMandates.tsx'

export function TopUp() {
  const { t } = useTranslation()
  return (
    <Page title={t('topUp.title')} lead={t('topUp.hint')}>
      <QueryView query={useQuery(topUpQuery)} skeleton={<PanelSkeletons lines={[8]} />}>
        {(topUp) => (
          <>
            <Stopped topUp={topUp} />
            <Controls topUp={topUp} />
          </>
        )}
      </QueryView>
      <History />
    </Page>
  )
}

/** Without an offer the history stays, and nothing can be turned on. */
function Controls({ topUp }: { readonly topUp: TopUpAnswer }) {
  const { t } = useTranslation()
  const packs = useQuery(packsQuery)
  if (!topUp.isOffered) return <Banner tone="note">{t('topUp.notOffered')}</Banner>
  return (
    <QueryView query={packs} lines={6}>
      {(shop) => (
        <>
          <MandatePanel topUp={topUp} packs={shop.packs} />
          {topUp.method !== null && <NoticePanel topUp={topUp} />}
        </>
      )}
    </QueryView>
  )
}

function History() {
  return (
    <QueryView query={useQuery(topUpHistoryQuery)} lines={4}>
      {({ mandates, charges }) => (
        <>
          <Charges charges={charges} />
          <PastMandates mandates={mandates.filter(({ ended }) => ended !== null)} />
        </>
      )}
    </QueryView>
  )
}

/** Why the service ended the newest mandate, and what the owner can do. */
function Stopped({ topUp: { mandate } }: { readonly topUp: TopUpAnswer }) {
  const { t } = useTranslation()
  const format = useFormat()
  const ended = mandate?.ended ?? null
  if (ended === null) return null
  const { why, at } = ended
  // The owner knows about these.
  if (why === 'owner' || why === 'replaced' || why === 'closed') return null
  return (
    <Banner tone="warn" title={t(`topUp.stopped.${why}`)}>
      {t(`topUp.stopped.${why}Text`, { moment: format.moment(at) })}
    </Banner>
  )
}
