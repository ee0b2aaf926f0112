// How far the closing of the account is: its steps with their times, what it waits for, and every
// refund. The owner may stop it until refunds begin, and ask for a refused refund again. When the
// session has ended with the account, the page says so and leaves.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Check, Circle, LoaderCircle } from 'lucide-react'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import type { ClosingProcess, ClosingRefund } from '../../src/cabinet/contract/closing.ts'
import { paths } from '../paths.ts'
import { call } from '../runtime/api.ts'
import { closingQuery, meQuery } from '../runtime/queries.ts'
import { Credits, Moment, Rubles } from '../ui/amounts.tsx'
import { Button } from '../ui/Button.tsx'
import { classes } from '../ui/classes.ts'
import { Badge, type BadgeTone, Panel } from '../ui/parts.tsx'
import { TextLink } from '../ui/TextLink.tsx'
import { useErrorToast, useToast } from '../ui/Toasts.tsx'

/** The worker takes a step within seconds of its reason. */
const LOOK_MS = 3_000
const STEPS = ['closing', 'drained', 'refunded'] as const

export const isNothing = ({ exact }: ClosingProcess['held']) => /^[0.]*$/.test(exact)

export function ClosingSteps({ process }: { readonly process: ClosingProcess }) {
  const { t } = useTranslation()
  useQuery({ ...closingQuery, refetchInterval: LOOK_MS })
  useSayDone()
  const now = STEPS.indexOf(process.step)
  const times = [process.drainedAt, process.refundedAt, null]
  return (
    <Panel title={t('closing.processTitle')} hint={<Begun process={process} />} isDanger>
      <div className="grid gap-5">
        <ol className="grid gap-3">
          {STEPS.map((step, i) => (
            <Step key={step} name={step} at={times[i] ?? null} progress={i - now}>
              {i === now && <Waits process={process} />}
            </Step>
          ))}
        </ol>
        {process.refunds.length > 0 && <Refunds refunds={process.refunds} />}
        {process.canStop && <Stop />}
      </div>
    </Panel>
  )
}

/**
 * When the account is closed, its session has ended: the route's guard opens the sign-in page, and
 * this page, while it is removed, posts the message that is shown there. Signing out clears the
 * answer about the closing first (useSignOut), so it posts none.
 */
function useSayDone(): void {
  const { t } = useTranslation()
  const client = useQueryClient()
  const toast = useToast()
  useEffect(
    () => () => {
      const isSignedOut = client.getQueryData(meQuery.queryKey) === null
      const isClosing = client.getQueryData(closingQuery.queryKey) !== undefined
      if (isSignedOut && isClosing) toast(t('closing.done'))
    },
    [client, t, toast],
  )
}

function Begun({ process }: { readonly process: ClosingProcess }) {
  const { t } = useTranslation()
  return (
    <>
      {t(`closing.begunBy.${process.begunBy}`)} <Moment at={process.begunAt} />.{' '}
      {t(`closing.chosen.${process.unspent}`)}
    </>
  )
}

function Step(props: {
  readonly name: (typeof STEPS)[number]
  readonly at: string | null
  /** Below zero: done. Zero: under way. */
  readonly progress: number
  readonly children?: React.ReactNode
}) {
  const { t } = useTranslation()
  const { name, at, progress, children } = props
  const Icon = progress < 0 ? Check : progress === 0 ? LoaderCircle : Circle
  const tone = progress < 0 ? 'text-accent' : progress === 0 ? 'text-amber' : 'text-soft'
  return (
    <li className="flex gap-3" aria-current={progress === 0 ? 'step' : undefined}>
      <Icon aria-hidden className={classes('mt-0.5 size-5 shrink-0', tone)} />
      <div className="grid min-w-0 gap-1">
        <p className={classes(progress > 0 ? 'text-soft' : 'font-medium')}>
          {t(`closing.steps.${name}`)}
          <span className="sr-only">
            {' '}
            ({t(`closing.progress.${progress < 0 ? 'done' : progress === 0 ? 'now' : 'later'}`)})
          </span>
        </p>
        {at !== null && (
          <p className="text-sm text-soft">
            <Moment at={at} />
          </p>
        )}
        {children}
      </div>
    </li>
  )
}

function Waits({ process }: { readonly process: ClosingProcess }) {
  const { t } = useTranslation()
  const { step, held, payableOrders, disputedOrders, refunds } = process
  const isReviewed = refunds.some(({ state }) => state === 'review')
  return (
    <div className="grid gap-1 text-sm text-soft">
      {step === 'closing' && !isNothing(held) && (
        <p>
          {t('closing.waitsRequests')} <Credits value={held} />
        </p>
      )}
      {step === 'closing' && payableOrders > 0 && <p>{t('closing.waitsOrders')}</p>}
      {step === 'drained' && disputedOrders > 0 && <p>{t('closing.waitsDispute')}</p>}
      {step === 'drained' && (isReviewed || disputedOrders === 0) && (
        <p>{t(isReviewed ? 'closing.waitsReview' : 'closing.waitsBank')}</p>
      )}
    </div>
  )
}

const tones: Readonly<Record<ClosingRefund['state'], BadgeTone>> = {
  ...{ sent: 'note', again: 'warn', review: 'warn', returned: 'good', dismissed: 'bad' },
}

function Refunds({ refunds }: { readonly refunds: readonly ClosingRefund[] }) {
  const { t } = useTranslation()
  return (
    <div className="grid gap-2">
      <h3 className="font-medium">{t('closing.refunds')}</h3>
      <ul className="grid">
        {refunds.map((refund) => (
          <RefundLine key={refund.id} refund={refund} />
        ))}
      </ul>
    </div>
  )
}

function RefundLine({ refund }: { readonly refund: ClosingRefund }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const showError = useErrorToast()
  const { id, order, state, amountKopecks, credits, at, againAt } = refund
  const again = useMutation({
    mutationFn: () => call('POST /api/closing/refunds/:id/again', { params: { id } }),
    onSuccess: (closing) => client.setQueryData(closingQuery.queryKey, closing),
    onError: showError,
  })
  return (
    <li
      className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line py-2.5
        last:border-0"
    >
      <div className="min-w-0 flex-1 basis-48">
        <TextLink to={paths.order} params={{ id: order }}>
          <Rubles kopecks={amountKopecks} />
        </TextLink>
        <p className="text-sm text-soft">
          {t('closing.forCredits')} <Credits value={credits} /> · <Moment at={at} />
        </p>
        {againAt !== null && (
          <p className="text-sm text-soft">
            {t('closing.againAt')} <Moment at={againAt} />
          </p>
        )}
      </div>
      <Badge tone={tones[state]}>{t(`closing.states.${state}`)}</Badge>
      {state === 'again' && (
        <Button isSmall isPending={again.isPending} onClick={() => again.mutate()}>
          {t('closing.again')}
        </Button>
      )}
    </li>
  )
}

function Stop() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const showError = useErrorToast()
  const toast = useToast()
  const stop = useMutation({
    mutationFn: () => call('POST /api/closing/stop'),
    onSuccess: async (closing) => {
      client.setQueryData(closingQuery.queryKey, closing)
      await client.invalidateQueries({ queryKey: meQuery.queryKey })
      toast(t('closing.stopped'))
    },
    onError: showError,
  })
  return (
    <div className="grid justify-items-start gap-2">
      <p className="text-sm text-pretty text-soft">{t('closing.stopHint')}</p>
      <Button isPending={stop.isPending} onClick={() => stop.mutate()}>
        {t('closing.stop')}
      </Button>
    </div>
  )
}
