// The first steps of a newcomer: buy or get a trial, create a key, send a request. Live updates
// advance the list; if the last step is done while the page is open, a banner says so once.
import { Check } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Credits, NextStep } from '../../../src/cabinet/contract/contract.ts'
import { usePhrases } from '../../format/phrases.ts'
import { paths } from '../../paths.ts'
import { Banner } from '../../ui/Banner.tsx'
import { ButtonLink } from '../../ui/Button.tsx'
import { classes } from '../../ui/classes.ts'
import { Panel } from '../../ui/parts.tsx'

const order: readonly NextStep[] = ['buy', 'key', 'request', 'done']
const steps = [
  { id: 'buy', to: paths.packs },
  { id: 'key', to: paths.key, state: { createsKey: true } },
  { id: 'request', to: paths.key },
] as const

export function FirstSteps(props: {
  readonly nextStep: NextStep
  /** The credits of the owner's trial, which then takes the place of a purchase. */
  readonly trial: Credits | null
}) {
  const { nextStep, trial } = props
  const { t } = useTranslation()
  const phrases = usePhrases()
  const [initialStep] = useState(nextStep)
  if (nextStep === 'done') {
    return (
      <div role="status" className="empty:hidden">
        {initialStep !== 'done' && (
          <Banner tone="good" title={t('home.steps.allDone')}>
            {t('home.steps.allDoneText')}
          </Banner>
        )}
      </div>
    )
  }
  const reached = order.indexOf(nextStep)
  return (
    <Panel title={t('home.steps.title')} hint={t('home.steps.lead')}>
      <ol className="grid gap-1">
        {steps.map((step, index) => (
          <Step
            key={step.id}
            step={step}
            number={index + 1}
            label={
              step.id === 'buy' && trial !== null
                ? t('home.steps.trial', { credits: phrases.credits(trial) })
                : t(`home.steps.${step.id}`)
            }
            state={index < reached ? 'isDone' : index === reached ? 'isNow' : 'isLater'}
          />
        ))}
      </ol>
    </Panel>
  )
}

function Step(props: {
  readonly step: (typeof steps)[number]
  readonly number: number
  readonly label: string
  readonly state: 'isDone' | 'isNow' | 'isLater'
}) {
  const { step, number, label, state } = props
  const { t } = useTranslation()
  const isNow = state === 'isNow'
  return (
    <li
      aria-current={isNow ? 'step' : undefined}
      className={classes(
        'flex gap-4 rounded-part p-3 max-[20em]:flex-col sm:items-center',
        isNow && 'bg-tint',
      )}
    >
      <span
        aria-hidden
        className={classes(
          'grid size-8 shrink-0 place-items-center rounded-full border font-semibold',
          state === 'isDone' && 'border-accent bg-accent text-on-accent',
          isNow && 'border-accent text-accent',
          state === 'isLater' && 'border-edge text-soft',
        )}
      >
        {state === 'isDone' ? <Check className="size-4.5" /> : number}
      </span>
      <div className="flex min-w-0 flex-1 flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <div className="min-w-0 flex-1 basis-56">
          <p className={classes('font-medium', state === 'isDone' && 'text-soft')}>
            {label}
            <span className="sr-only">, {t(`home.steps.${state}`)}</span>
          </p>
          {isNow && <p className="text-sm text-soft">{t(`home.steps.${step.id}Text`)}</p>}
        </div>
        {isNow && (
          <ButtonLink to={step.to} state={'state' in step ? step.state : {}} tone="main" isSmall>
            {t(`home.steps.${step.id}Action`)}
          </ButtonLink>
        )}
      </div>
    </li>
  )
}
