// One order, from "waiting for payment" to "paid and credited". Everything shown comes from the
// server, so it is still true after the tab was closed and opened again.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import type { OrderWithRefunds } from '../../../src/cabinet/contract/contract.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { paths } from '../../paths.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { brandQuery, homeQuery, orderQuery } from '../../runtime/queries.ts'
import { Banner, type BannerTone } from '../../ui/Banner.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { Panel, PanelSkeletons } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { TextAnchor } from '../../ui/TextLink.tsx'
import { useCheck } from './check.ts'
import { OrderFacts, Refunds } from './OrderFacts.tsx'
import { canCheck, canRefund, isUsedUp, orderStates, stateWords } from './order-states.ts'
import { PayLink, SbpCode } from './PaymentLinks.tsx'
import { hasOpenedPaymentPage } from './payment-page.ts'
import { Receipts } from './Receipts.tsx'
import { RefundDialog } from './RefundDialog.tsx'
import { Stages } from './Stages.tsx'

/**
 * Live updates report changes; this is for networks whose proxy blocks the stream, and for the
 * credits that are left, which each request changes.
 */
const REFETCH_MS = 15_000

export function Order() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/owner/orders/$id' })
  const phrases = usePhrases()
  const query = useQuery({
    ...orderQuery(id),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && (orderStates[data.state].isOpen === true || canRefund(data))
        ? REFETCH_MS
        : false,
  })
  const credits =
    query.data === undefined ? undefined : phrases.creditsShort(query.data.pack.credits)
  return (
    <Page title={credits === undefined ? t('order.titlePlain') : t('order.title', { credits })}>
      <QueryView query={query} skeleton={<PanelSkeletons lines={[4, 7]} />}>
        {(order) => (
          <div className="grid items-start gap-6 xl:grid-cols-[minmax(0,1fr)_28rem]">
            <div className="grid min-w-0 gap-6">
              <StatePanel order={order} />
              <Refunds refunds={order.refunds} />
              <Receipts receipts={order.receipts} />
            </div>
            <div className="grid min-w-0 gap-6">
              <OrderFacts order={order} />
              <Support id={order.id} />
            </div>
          </div>
        )}
      </QueryView>
    </Page>
  )
}

function StatePanel({ order }: { readonly order: OrderWithRefunds }) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const { state, confirmation, payableUntil } = order
  const { tone, stage, isOpen } = orderStates[state]
  const isOnItsWay = isOpen === true || state === 'review' || state === 'credited'
  const isWithBank = state === 'pending' && hasOpenedPaymentPage(order.id)
  const shown = isWithBank ? 'bank' : stateWords(order)
  const text = shown === 'partially_refunded' && isUsedUp(order) ? 'refunded_spent' : shown
  return (
    <Panel>
      <div className="grid gap-5">
        {isOnItsWay && <Stages stage={stage} />}
        <div role="status" className="grid gap-3">
          <h2 className="text-xl">{t(`order.state.${shown}`)}</h2>
          <p>
            {t(`order.text.${text}`, {
              credits: phrases.credits(order.pack.credits),
              left: phrases.credits(order.unspent ?? order.pack.credits),
              rubles: format.rubles(order.refundedKopecks),
            })}
          </p>
          {order.decline !== null && <Decline decline={order.decline} tone={tone} />}
        </div>
        {confirmation !== null && <SbpCode order={order} />}
        <Actions order={order} />
        {isOpen === true && (
          <p className="text-sm text-soft">
            {confirmation !== null && payableUntil !== null && (
              <>{t('order.payable', { time: format.clock(payableUntil) })} </>
            )}
            {t('order.safe')}
          </p>
        )}
      </div>
    </Panel>
  )
}

function Decline(props: {
  readonly decline: NonNullable<OrderWithRefunds['decline']>
  readonly tone: BannerTone
}) {
  const { t } = useTranslation()
  const { reason, advice } = props.decline
  return (
    <Banner tone={props.tone} title={t(`order.reason.${reason}`)}>
      {t(`order.advice.${advice}`)}
    </Banner>
  )
}

function Actions({ order }: { readonly order: OrderWithRefunds }) {
  const { t } = useTranslation()
  const errorText = useErrorText()
  const check = useCheck(order)
  const [isRefunding, setRefunding] = useState(false)
  const { isOver } = orderStates[order.state]
  const { pack, method } = order
  const answer = check.isPending
    ? t('order.checking')
    : check.isError
      ? errorText(check.error)
      : check.isSuccess && canCheck(order)
        ? t('order.checked')
        : ''
  return (
    // `contents`, so that an empty row of buttons leaves no gap.
    <div className="contents">
      <div className="flex flex-wrap gap-3 empty:hidden">
        {isOver === true && (
          <>
            <ButtonLink to={paths.packs} search={{ pack: pack.id, method }} tone="main">
              {t('order.retry')}
            </ButtonLink>
            <ButtonLink
              to={paths.packs}
              search={{ pack: pack.id, method: method === 'sbp' ? 'card' : 'sbp' }}
            >
              {t('order.retryOther')}
            </ButtonLink>
          </>
        )}
        {order.state === 'credited' && <NextStep />}
        <PayLink order={order} />
        {canCheck(order) && (
          <Button icon={RotateCw} isPending={check.isPending} onClick={() => check.mutate()}>
            {t('order.check')}
          </Button>
        )}
        {canRefund(order) && <RefundButton onOpen={() => setRefunding(true)} />}
      </div>
      <p role="status" className="text-sm text-soft empty:hidden">
        {answer}
      </p>
      <RefundDialog order={order} isOpen={isRefunding} onClose={() => setRefunding(false)} />
    </div>
  )
}

function NextStep() {
  const { t } = useTranslation()
  const { data: home } = useQuery(homeQuery)
  const isKeyNext = home?.nextStep === 'key'
  return isKeyNext ? (
    <ButtonLink to={paths.key} state={{ createsKey: true }} tone="main">
      {t('order.toKey')}
    </ButtonLink>
  ) : (
    <ButtonLink to={paths.home} tone="main">
      {t('order.toHome')}
    </ButtonLink>
  )
}

function RefundButton({ onOpen }: { readonly onOpen: () => void }) {
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandQuery)
  if (brand === undefined || brand.refundPolicy === 'none') return null
  return <Button onClick={onOpen}>{t('refund.action')}</Button>
}

function Support({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandQuery)
  const subject = t('order.supportSubject', { id })
  if (brand === undefined) return null
  return (
    <p className="text-sm break-words text-soft">
      <Trans
        i18nKey="order.support"
        values={{ email: brand.supportEmail }}
        components={{
          a: (
            <TextAnchor
              href={`mailto:${brand.supportEmail}?subject=${encodeURIComponent(subject)}`}
            />
          ),
        }}
      />
    </p>
  )
}
