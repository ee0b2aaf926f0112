// The progress of an order in three stages: ordered, paid, credited.
import { Check } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { classes } from '../../ui/classes.ts'

const names = ['stageOrder', 'stagePay', 'stageCredit'] as const

export function Stages({ stage }: { readonly stage: 0 | 1 | 2 | 3 }) {
  const { t } = useTranslation()
  return (
    <ol aria-label={t('order.stages')} className="flex flex-wrap gap-2">
      {names.map((name, index) => {
        const isPassed = index + 1 < stage || stage === 3
        const isNow = !isPassed && index + 1 === stage
        return (
          <li
            key={name}
            aria-current={isNow ? 'step' : undefined}
            className={classes(
              'min-w-0 flex-auto border-t-4 pt-2 text-sm',
              isPassed && 'border-accent text-ink',
              isNow && 'border-amber font-medium',
              !isPassed && !isNow && 'border-line text-soft',
            )}
          >
            <span className="flex items-center gap-1.5">
              {isPassed && <Check aria-hidden className="size-4 shrink-0 text-accent" />}
              {t(`order.${name}`)}
              {isPassed && <span className="sr-only">, {t('home.steps.isDone')}</span>}
            </span>
          </li>
        )
      })}
    </ol>
  )
}
