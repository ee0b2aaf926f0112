// Closing the account: shows in figures what happens to the unspent credits, lets the owner choose,
// and asks for a confirmation. Once it has begun, ClosingSteps shows how far it is.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ClosingPreview } from '../../src/cabinet/contract/closing.ts'
import type { UnspentChoice } from '../../src/cabinet/contract/contract.ts'
import { useFormat } from '../format/use-format.ts'
import { call } from '../runtime/api.ts'
import { useErrorText } from '../runtime/errors.ts'
import { closingQuery, meQuery } from '../runtime/queries.ts'
import { useMe, wipeKeysOf } from '../runtime/session.ts'
import { Credits, Rubles } from '../ui/amounts.tsx'
import { Banner } from '../ui/Banner.tsx'
import { Button } from '../ui/Button.tsx'
import { ConfirmDialog } from '../ui/dialog/Dialog.tsx'
import { CheckField } from '../ui/form/Field.tsx'
import { Facts, Panel, PanelSkeletons } from '../ui/parts.tsx'
import { QueryView } from '../ui/QueryView.tsx'
import { ClosingSteps, isNothing } from './ClosingSteps.tsx'
import { useStepUp } from './StepUp.tsx'

const promises = { refund: 'closing.sureRefund', forfeit: 'closing.sureForfeit' } as const

export function ClosePanel() {
  const { t } = useTranslation()
  const query = useQuery(closingQuery)
  return (
    <QueryView query={query} skeleton={<PanelSkeletons lines={[5]} />}>
      {({ process, preview }) =>
        process === null ? (
          <Panel title={t('closing.title')} hint={t('closing.hint')} isDanger>
            {preview !== null && <CloseForm closing={preview} />}
          </Panel>
        ) : (
          <ClosingSteps process={process} />
        )
      }
    </QueryView>
  )
}

function CloseForm({ closing }: { readonly closing: ClosingPreview }) {
  const { t } = useTranslation()
  const format = useFormat()
  const canRefund = closing.refundKopecks !== '0'
  const isEmpty = isNothing(closing.available) && isNothing(closing.held)
  // What requests hold is refunded when they leave it, so its owner is asked too. Nobody forfeits
  // unasked: where nothing can be refunded now, a dispute may still be won.
  const isAsked = canRefund || !isNothing(closing.held)
  const [unspent, setUnspent] = useState<UnspentChoice>('refund')
  const [isConfirming, setConfirming] = useState(false)
  const facts = [
    { name: t('closing.available'), value: <Credits value={closing.available} /> },
    ...(isNothing(closing.held)
      ? []
      : [{ name: t('closing.held'), value: <Credits value={closing.held} /> }]),
    { name: t('closing.refund'), value: <Rubles kopecks={closing.refundKopecks} /> },
  ]
  return (
    <div className="grid gap-5">
      <Facts facts={facts} />
      {isAsked && (
        <fieldset className="grid gap-2">
          <legend className="mb-2 font-medium">{t('closing.choice')}</legend>
          <Choice value="refund" chosen={unspent} onChoose={setUnspent}>
            {canRefund
              ? t('closing.chooseRefund', { sum: format.rubles(closing.refundKopecks) })
              : t('closing.chooseRefundOfHeld')}
          </Choice>
          <Choice value="forfeit" chosen={unspent} onChoose={setUnspent}>
            {t('closing.chooseForfeit')}
          </Choice>
        </fieldset>
      )}
      {(closing.payableOrders > 0 || !isNothing(closing.held)) && (
        <Banner>{t('closing.waits')}</Banner>
      )}
      {closing.reviewedKopecks !== '0' && unspent === 'refund' && (
        <Banner tone="warn">
          {t('closing.reviewed', { sum: format.rubles(closing.reviewedKopecks) })}
        </Banner>
      )}
      <div>
        <Button tone="danger" onClick={() => setConfirming(true)}>
          {t('closing.submit')}
        </Button>
      </div>
      {isConfirming && (
        <CloseDialog
          unspent={unspent}
          promise={t(isEmpty ? 'closing.sureEmpty' : promises[isAsked ? unspent : 'forfeit'])}
          onClose={() => setConfirming(false)}
        />
      )}
    </div>
  )
}

function Choice(props: {
  readonly value: UnspentChoice
  readonly chosen: UnspentChoice
  readonly onChoose: (value: UnspentChoice) => void
  readonly children: string
}) {
  const { value, chosen, onChoose, children } = props
  const id = useId()
  return (
    <div className="flex items-start gap-3">
      <input
        id={id}
        type="radio"
        name="unspent"
        checked={value === chosen}
        onChange={() => onChoose(value)}
        className="size-6 shrink-0 accent-accent"
      />
      <label htmlFor={id}>{children}</label>
    </div>
  )
}

function CloseDialog(props: {
  readonly unspent: UnspentChoice
  /** The sentence that the owner must tick. */
  readonly promise: string
  readonly onClose: () => void
}) {
  const { t } = useTranslation()
  const { unspent, onClose } = props
  const { account } = useMe()
  const client = useQueryClient()
  const withStepUp = useStepUp()
  const errorText = useErrorText()
  const [isSure, setSure] = useState(false)
  const close = useMutation({
    mutationFn: () => withStepUp(() => call('POST /api/closing', { body: { unspent } })),
    onSuccess: async (closing) => {
      // The key is useless now, and no later visit would wipe it.
      await wipeKeysOf(account)
      client.setQueryData(closingQuery.queryKey, closing)
      await client.invalidateQueries({ queryKey: meQuery.queryKey })
    },
  })
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t('closing.sureTitle')}
      text={t('closing.sureText')}
      confirm={t('closing.submit')}
      isAllowed={isSure}
      isPending={close.isPending}
      error={close.isError ? errorText(close.error) : undefined}
      onConfirm={() => close.mutate()}
    >
      <CheckField isChecked={isSure} onChange={setSure}>
        {props.promise}
      </CheckField>
    </ConfirmDialog>
  )
}
