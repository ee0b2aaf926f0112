// Automatic top-up: off until the owner agrees. Shows the agreed terms and why the service turned
// it off, and lets the owner remove the card.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Pack } from '../../../src/cabinet/contract/contract.ts'
import type { TopUp } from '../../../src/cabinet/contract/guards.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { paths } from '../../paths.ts'
import { call } from '../../runtime/api.ts'
import { packsQuery, topUpQuery } from '../../runtime/queries.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/dialog/Dialog.tsx'
import { Badge, Facts, Panel } from '../../ui/parts.tsx'
import { useErrorToast, useToast } from '../../ui/Toasts.tsx'
import { TopUpForm } from './TopUpForm.tsx'

/** Renders nothing if the operator does not offer top-ups. */
export function TopUpPanel() {
  const { t } = useTranslation()
  const { data: topUp } = useQuery(topUpQuery)
  const { data: shop } = useQuery(packsQuery)
  if (topUp === undefined || shop === undefined || !topUp.isOffered) return null
  return (
    <Panel
      title={t('topUp.title')}
      hint={t('topUp.hint')}
      actions={
        <Badge tone={topUp.isOn ? 'good' : 'note'}>
          {t(topUp.isOn ? 'topUp.on' : 'topUp.off')}
        </Badge>
      }
    >
      <Stopped topUp={topUp} />
      {topUp.method === null ? <NoCard /> : <SavedCard topUp={topUp} packs={shop.packs} />}
    </Panel>
  )
}

/** Why the service turned top-ups off, and what the owner can do. */
function Stopped({ topUp: { stopped, isOn } }: { readonly topUp: TopUp }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (isOn || stopped === null || stopped.why === 'owner') return null
  return (
    <div className="mb-5">
      <Banner tone="warn" title={t(`topUp.stopped.${stopped.why}`)}>
        {t(`topUp.stopped.${stopped.why}Text`, { moment: format.moment(stopped.at) })}
      </Banner>
    </div>
  )
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
  const hasForm = isChanging || !topUp.isOn
  return (
    <div className="grid gap-5">
      <AgreedTerms topUp={topUp} />
      {hasForm && <TopUpForm topUp={topUp} packs={packs} onDone={() => setChanging(false)} />}
      <div className="flex flex-wrap gap-3">
        {topUp.isOn && !isChanging && (
          <Button onClick={() => setChanging(true)}>{t('topUp.change')}</Button>
        )}
        {topUp.isOn && <TurnOff />}
        <RemoveCard title={topUp.method?.title ?? ''} />
      </div>
    </div>
  )
}

function AgreedTerms({ topUp }: { readonly topUp: TopUp }) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const { method, settings, isOn } = topUp
  const card = { name: t('topUp.card'), value: method?.title }
  if (!isOn || settings === null) return <Facts facts={[card]} />
  const rubles = format.rubles(settings.priceKopecks)
  const { credits } = settings
  return (
    <Facts
      facts={[
        card,
        {
          name: t('topUp.pack'),
          value: credits === null ? rubles : `${phrases.creditsShort(credits)} · ${rubles}`,
        },
        { name: t('topUp.below'), value: phrases.credits(settings.threshold) },
        {
          name: t('topUp.month'),
          value: t('topUp.monthValue', {
            spent: format.rubles(topUp.monthKopecks),
            ceiling: format.rubles(settings.ceilingKopecks),
          }),
        },
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
