// The spending limits: credits a day, and how fast they may be spent. The server demands a recent
// proof of the password to loosen a limit.
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Guards } from '../../../src/cabinet/contract/guards.ts'
import { useStepUp } from '../../account/StepUp.tsx'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { useRate } from '../../format/use-rate.ts'
import { call } from '../../runtime/api.ts'
import { guardsQuery } from '../../runtime/queries.ts'
import { SelectField } from '../../ui/form/Field.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { WholeField } from '../../ui/form/WholeField.tsx'
import { Panel } from '../../ui/parts.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { wholeOf } from './amount.ts'
import { InRubles } from './InRubles.tsx'

const MINUTES = [1, 5, 10, 30, 60, 360, 1_440]
const MINUTES_DEFAULT = 10
const HOUR = 60

export function LimitsForm({ guards }: { readonly guards: Guards }) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const client = useQueryClient()
  const withStepUp = useStepUp()
  const toast = useToast()
  const { dayLimit, velocity } = guards
  const problem = (text: string) =>
    wholeOf(text) === undefined ? t('limits.amountWrong') : undefined
  const form = useForm({
    initial: {
      day: dayLimit === null ? '' : format.credits(dayLimit),
      speed: velocity === null ? '' : format.credits(velocity.limit),
      minutes: String(velocity?.minutes ?? MINUTES_DEFAULT),
    },
    check: ({ day, speed }) => ({ day: problem(day), speed: problem(speed) }),
    async send({ day, speed, minutes }) {
      const limit = wholeOf(speed) ?? null
      const body = {
        dayLimit: wholeOf(day) ?? null,
        velocity: limit === null ? null : { limit, minutes: Number(minutes) },
      }
      const answer = await withStepUp(() => call('POST /api/guards/limits', { body }))
      client.setQueryData(guardsQuery.queryKey, answer)
      toast(t('limits.saved'))
    },
  })
  const rate = useRate()
  const spent = (rate?.credits ?? phrases.credits)(guards.daySpent)
  const clock = format.clock(guards.dayEndsAt)
  return (
    <Panel title={t('limits.spending')} hint={t('limits.spendingHint')}>
      <Form form={form} submit={t('limits.save')} tone="plain">
        <WholeField
          {...form.text('day')}
          label={t('limits.day')}
          hint={
            <>
              {t('limits.dayHint', { spent, clock })}
              <InRubles text={form.values.day} />
            </>
          }
          placeholder={t('limits.none')}
        />
        <div
          className="grid items-start gap-5 sm:grid-cols-[1fr_12rem] xl:grid-cols-1
            2xl:grid-cols-[1fr_12rem]"
        >
          <WholeField
            {...form.text('speed')}
            label={t('limits.speed')}
            hint={
              <>
                {t('limits.speedHint')}
                <InRubles text={form.values.speed} />
              </>
            }
            placeholder={t('limits.none')}
          />
          <MinutesField
            value={form.values.minutes}
            onChange={(value) => form.set('minutes', value)}
          />
        </div>
      </Form>
    </Panel>
  )
}

/** The usual times, and the current one if it is another. */
function MinutesField(props: {
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const { value, onChange } = props
  const { t } = useTranslation()
  const current = Number(value)
  const minutes = MINUTES.includes(current) ? MINUTES : [...MINUTES, current]
  return (
    <SelectField
      label={t('limits.within')}
      name="minutes"
      value={value}
      onChange={onChange}
      options={minutes.map((count) => ({
        value: String(count),
        label:
          count < HOUR || count % HOUR > 0
            ? t('limits.minutes', { count })
            : t('limits.hours', { count: count / HOUR }),
      }))}
    />
  )
}
