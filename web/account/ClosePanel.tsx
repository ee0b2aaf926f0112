// The end of the account: what becomes of the unspent part is said in figures before anything is
// asked, chosen by the owner, and confirmed once more.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Closing, Unspent } from '../../src/cabinet/contract/contract.ts'
import { useFormat } from '../format/format.ts'
import { paths } from '../paths.ts'
import { call } from '../runtime/api.ts'
import { closingAsk, meAsk } from '../runtime/asks.ts'
import { useErrorText } from '../runtime/errors.ts'
import { forgetAnswers, forgetKey, useMe } from '../runtime/session.ts'
import { Asked } from '../ui/Asked.tsx'
import { Credits, Rubles } from '../ui/amounts.tsx'
import { Banner } from '../ui/Banner.tsx'
import { Button } from '../ui/Button.tsx'
import { ConfirmDialog } from '../ui/dialog/Dialog.tsx'
import { CheckField } from '../ui/form/Field.tsx'
import { Facts, Panel } from '../ui/parts.tsx'
import { useToast } from '../ui/Toasts.tsx'
import { useFreshly } from './Freshly.tsx'

const sure = { refund: 'closing.sureRefund', forfeit: 'closing.sureForfeit' } as const

export function ClosePanel() {
  const { t } = useTranslation()
  const query = useQuery(closingAsk)
  return (
    <Panel title={t('closing.title')} hint={t('closing.hint')} isDanger>
      <Asked query={query}>{(closing) => <CloseForm closing={closing} />}</Asked>
    </Panel>
  )
}

function CloseForm({ closing }: { readonly closing: Closing }) {
  const { t } = useTranslation()
  const format = useFormat()
  const canRefund = closing.refundKopecks !== '0'
  const isEmpty = /^[0.]*$/.test(closing.available.exact)
  const [unspent, setUnspent] = useState<Unspent>(canRefund ? 'refund' : 'forfeit')
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
          promise={t(isEmpty ? 'closing.sureEmpty' : sure[unspent])}
          onClose={() => setAsked(false)}
        />
      )}
    </div>
  )
}

function Choice(props: {
  readonly value: Unspent
  readonly chosen: Unspent
  readonly onChoose: (value: Unspent) => void
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
  readonly unspent: Unspent
  /** What the owner says to have understood. */
  readonly promise: string
  readonly onClose: () => void
}) {
  const { t } = useTranslation()
  const { unspent, onClose } = props
  const { account } = useMe()
  const client = useQueryClient()
  const navigate = useNavigate()
  const freshly = useFreshly()
  const toast = useToast()
  const errorText = useErrorText()
  const [isSure, setSure] = useState(false)
  const close = useMutation({
    mutationFn: () => freshly(() => call('POST /api/closing', { body: { unspent } })),
    onSuccess: async () => {
      // It opens nothing any more, and nobody will come back to wipe it.
      await forgetKey(account)
      client.setQueryData(meAsk.queryKey, null)
      await navigate({ to: paths.signIn })
      forgetAnswers(client)
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
