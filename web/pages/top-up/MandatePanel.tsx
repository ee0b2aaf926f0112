// The mandate: none until the owner agrees. Shows the terms of the living one and what was spent
// under it, and lets the owner replace it, end it and remove the card.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Pack } from '../../../src/cabinet/contract/contract.ts'
import type { TopUp } from '../../../src/cabinet/contract/guards.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { paths } from '../../paths.ts'
import { call } from '../../runtime/api.ts'
import { topUpHistoryQuery, topUpQuery } from '../../runtime/queries.ts'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/dialog/Dialog.tsx'
import { Badge, Facts, Panel } from '../../ui/parts.tsx'
import { useErrorToast, useToast } from '../../ui/Toasts.tsx'
import { MandateForm } from './MandateForm.tsx'

export function MandatePanel(props: { readonly topUp: TopUp; readonly packs: readonly Pack[] }) {
  const { topUp, packs } = props
  const { t } = useTranslation()
  const isOn = isLiving(topUp)
  return (
    <Panel
      title={t('topUp.mandate')}
      actions={<Badge tone={isOn ? 'good' : 'note'}>{t(isOn ? 'topUp.on' : 'topUp.off')}</Badge>}
    >
      {topUp.method === null ? <NoCard /> : <SavedCard topUp={topUp} packs={packs} />}
    </Panel>
  )
}

function isLiving({ mandate }: TopUp): boolean {
  return mandate?.ended === null
}

function NoCard() {
  const { t } = useTranslation()
  return (
    <div className="grid justify-items-start gap-4">
      <p className="max-w-prose">{t('topUp.noCard')}</p>
      <ButtonLink to={paths.packs} search={{ method: 'card', save: true }}>
        {t('topUp.keepCard')}
      </ButtonLink>
    </div>
  )
}

function SavedCard({ topUp, packs }: { readonly topUp: TopUp; readonly packs: readonly Pack[] }) {
  const { t } = useTranslation()
  const [isChanging, setChanging] = useState(false)
  const isOn = isLiving(topUp)
  const hasForm = isChanging || !isOn
  return (
    <div className="grid gap-5">
      <AgreedTerms topUp={topUp} />
      {hasForm && <MandateForm topUp={topUp} packs={packs} onDone={() => setChanging(false)} />}
      <div className="flex flex-wrap gap-3">
        {isOn && !isChanging && (
          <Button onClick={() => setChanging(true)}>{t('topUp.change')}</Button>
        )}
        {isOn && <TurnOff />}
        <RemoveCard title={topUp.method?.title ?? ''} />
      </div>
    </div>
  )
}

function AgreedTerms({ topUp }: { readonly topUp: TopUp }) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const { method, mandate } = topUp
  const card = { name: t('topUp.card'), value: method?.title }
  if (mandate === null || mandate.ended !== null) return <Facts facts={[card]} />
  const { credits, dayCeilingKopecks, monthCeilingKopecks } = mandate
  const rubles = format.rubles(mandate.priceKopecks)
  const spentOf = (spent: string, ceiling: string) =>
    t('topUp.spentOf', { spent: format.rubles(spent), ceiling: format.rubles(ceiling) })
  return (
    <Facts
      facts={[
        card,
        {
          name: t('topUp.pack'),
          value: credits === null ? rubles : `${phrases.creditsShort(credits)} · ${rubles}`,
        },
        { name: t('topUp.below'), value: phrases.credits(mandate.threshold) },
        {
          name: t('topUp.today', { clock: format.utcMidnight() }),
          value: spentOf(topUp.dayKopecks, dayCeilingKopecks),
        },
        { name: t('topUp.month'), value: spentOf(topUp.monthKopecks, monthCeilingKopecks) },
        { name: t('topUp.given'), value: format.moment(mandate.givenAt) },
        { name: t('topUp.number'), value: mandate.id },
      ]}
    />
  )
}

function useStopTopUp(route: 'POST /api/top-up/off' | 'POST /api/top-up/forget', doneText: string) {
  const client = useQueryClient()
  const toast = useToast()
  const showError = useErrorToast()
  return useMutation({
    mutationFn: () => call(route),
    onSuccess: (answer) => {
      client.setQueryData(topUpQuery.queryKey, answer)
      void client.invalidateQueries({ queryKey: topUpHistoryQuery.queryKey })
      toast(doneText)
    },
    onError: showError,
  })
}

function TurnOff() {
  const { t } = useTranslation()
  const end = useStopTopUp('POST /api/top-up/off', t('topUp.turnedOff'))
  return (
    <Button isPending={end.isPending} onClick={() => end.mutate()}>
      {t('topUp.turnOff')}
    </Button>
  )
}

function RemoveCard({ title }: { readonly title: string }) {
  const { t } = useTranslation()
  const [isConfirming, setConfirming] = useState(false)
  const end = useStopTopUp('POST /api/top-up/forget', t('topUp.forgotten'))
  return (
    <>
      <Button tone="quiet" onClick={() => setConfirming(true)}>
        {t('topUp.forget')}
      </Button>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t('topUp.forgetTitle', { title })}
        text={t('topUp.forgetText')}
        confirm={t('topUp.forget')}
        isPending={end.isPending}
        onConfirm={() => end.mutate()}
      />
    </>
  )
}
