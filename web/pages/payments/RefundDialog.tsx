// The refund dialog: the amount that can be refunded now and the reason for the limit, then the
// proofs that are missing, then the request. The amount is loaded at each opening: a
// running program spends on.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Order, Refundable } from '../../../src/cabinet/contract/contract.ts'
import { useStepUp } from '../../account/StepUp.tsx'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { call } from '../../runtime/api.ts'
import { useErrorText } from '../../runtime/errors.ts'
import {
  brandQuery,
  homeQuery,
  orderQuery,
  ordersQuery,
  refundableQuery,
} from '../../runtime/queries.ts'
import { Rubles } from '../../ui/amounts.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/dialog/Dialog.tsx'
import { Facts } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { attemptIdFor, endAttempt } from './attempt.ts'

export function RefundDialog(props: {
  readonly order: Order
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  const { order, isOpen, onClose } = props
  const { t } = useTranslation()
  const query = useQuery({ ...refundableQuery(order.id), enabled: isOpen, staleTime: 0, gcTime: 0 })
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t('refund.title')}>
      <QueryView query={query}>
        {(refundable) => <Offer order={order} refundable={refundable} onClose={onClose} />}
      </QueryView>
    </Dialog>
  )
}

function Offer(props: {
  readonly order: Order
  readonly refundable: Refundable
  readonly onClose: () => void
}) {
  const { order, refundable, onClose } = props
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandQuery)
  const format = useFormat()
  const phrases = usePhrases()
  const errorText = useErrorText()
  const refund = useRefund(order, onClose)
  if (refundable.why !== null) {
    return (
      <div className="grid gap-5">
        <Banner title={t('refund.nothing')}>{t(`refund.why.${refundable.why}`)}</Banner>
        {brand !== undefined && (
          <p className="text-sm text-soft">{t('refund.support', { email: brand.supportEmail })}</p>
        )}
        <div className="flex justify-end">
          <Button onClick={onClose}>{t('action.close')}</Button>
        </div>
      </div>
    )
  }
  const rubles = format.rubles(refundable.amountKopecks)
  const problem = refund.error === null ? '' : errorText(refund.error)
  return (
    <div className="grid gap-5">
      {brand !== undefined && <p className="text-soft">{t(`refund.text.${brand.refundPolicy}`)}</p>}
      <Facts
        facts={[
          {
            name: t('refund.amount'),
            value: (
              <strong>
                <Rubles kopecks={refundable.amountKopecks} />
              </strong>
            ),
          },
          { name: t('refund.credits'), value: phrases.credits(refundable.credits) },
        ]}
      />
      <p className="text-sm text-soft">{t('refund.when')}</p>
      <div role="alert" className="empty:hidden">
        {problem !== '' && <Banner tone="bad">{problem}</Banner>}
      </div>
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onClose}>{t('action.cancel')}</Button>
        <Button
          tone="danger"
          isPending={refund.isPending}
          onClick={() => refund.mutate(refundable)}
        >
          {t('refund.confirm', { rubles })}
        </Button>
      </div>
    </div>
  )
}

function useRefund(order: Order, onDone: () => void) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const withStepUp = useStepUp()
  const format = useFormat()
  const toast = useToast()
  return useMutation({
    // Sends exactly the amount that was shown, even if the refundable amount has changed since.
    mutationFn: ({ amountKopecks }: Refundable) => {
      const subject = `refund:${order.id}:${amountKopecks}`
      return withStepUp(async () => {
        const body = { attempt: attemptIdFor(subject), amountKopecks }
        const refund = await call('POST /api/orders/:id/refund', { params: { id: order.id }, body })
        endAttempt(subject)
        return refund
      })
    },
    onSuccess: ({ state, amountKopecks }) => {
      const rubles = format.rubles(amountKopecks)
      toast(t(state === 'succeeded' ? 'refund.askedDone' : 'refund.asked', { rubles }))
      onDone()
    },
    onSettled: () => {
      for (const { queryKey } of [orderQuery(order.id), ordersQuery, homeQuery]) {
        void client.invalidateQueries({ queryKey })
      }
    },
    onError: () => client.invalidateQueries({ queryKey: refundableQuery(order.id).queryKey }),
  })
}
