// Closing the account: shows in figures what happens to the unspent credits, lets the owner choose,
// and asks for a confirmation.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ClosingPreview, UnspentChoice } from '../../src/cabinet/contract/contract.ts'
import { useFormat } from '../format/use-format.ts'
import { paths } from '../paths.ts'
import { call } from '../runtime/api.ts'
import { useErrorText } from '../runtime/errors.ts'
import { closingQuery, meQuery } from '../runtime/queries.ts'
import { clearAnswers, useMe, wipeKeysOf } from '../runtime/session.ts'
import { Credits, Rubles } from '../ui/amounts.tsx'
import { Banner } from '../ui/Banner.tsx'
import { Button } from '../ui/Button.tsx'
import { ConfirmDialog } from '../ui/dialog/Dialog.tsx'
import { CheckField } from '../ui/form/Field.tsx'
import { Facts, Panel } from '../ui/parts.tsx'
import { QueryView } from '../ui/QueryView.tsx'
import { useToast } from '../ui/Toasts.tsx'
import { useStepUp } from './StepUp.tsx'

const promises = { refund: 'closing.sureRefund', forfeit: 'closing.sureForfeit' } as const

export function ClosePanel() {
  const { t } = useTranslation()
  const query = useQuery(closingQuery)
  return (
    <Panel title={t('closing.title')} hint={t('closing.hint')} isDanger>
      <QueryView query={query}>{(closing) => <CloseForm closing={closing} />}</QueryView>
    </Panel>
  )
}

function CloseForm({ closing }: { readonly closing: ClosingPreview }) {
  const { t } = useTranslation()
  const format = useFormat()
  const canRefund = closing.refundKopecks !== '0'
  const isEmpty = /^[0.]*$/.test(closing.available.exact)
  const [unspent, setUnspent] = useState<UnspentChoice>(canRefund ? 'refund' : 'forfeit')
  const [isAsked, setAsked] = useState(false)
  const facts = [
    { name: t('closing.available'), value: <Credits value={closing.available} /> },
    { name: t('closing.refund'), value: <Rubles kopecks={closing.refundKopecks} /> },
  ]
  return (
    <div className="grid gap-5">
      <Facts facts={facts} />
      {canRefund && (
        <fieldset className="grid gap-2">
          <legend className="mb-2 font-medium">{t('closing.choice')}</legend>
          <Choice value="refund" chosen={unspent} onChoose={setUnspent}>
            {t('closing.chooseRefund', { sum: format.rubles(closing.refundKopecks) })}
          </Choice>
          <Choice value="forfeit" chosen={unspent} onChoose={setUnspent}>
            {t('closing.chooseForfeit')}
          </Choice>
        </fieldset>
      )}
      {!closing.isPossible && (
        <Banner tone="warn">{t('closing.waits', { count: closing.payableOrders })}</Banner>
      )}
      <div>
        <Button tone="danger" disabled={!closing.isPossible} onClick={() => setAsked(true)}>
          {t('closing.submit')}
        </Button>
      </div>
      {isAsked && (
        <CloseDialog
          unspent={unspent}
          promise={t(isEmpty ? 'closing.sureEmpty' : promises[unspent])}
          onClose={() => setAsked(false)}
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
  const navigate = useNavigate()
  const withStepUp = useStepUp()
  const toast = useToast()
  const errorText = useErrorText()
  const [isSure, setSure] = useState(false)
  const close = useMutation({
    mutationFn: () => withStepUp(() => call('POST /api/closing', { body: { unspent } })),
    onSuccess: async () => {
      // The key is useless now, and no later visit would wipe it.
      await wipeKeysOf(account)
      client.setQueryData(meQuery.queryKey, null)
      await navigate({ to: paths.signIn })
      clearAnswers(client)
      toast(t('closing.done'))
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
