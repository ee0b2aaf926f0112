// The period of the usage page: presets as a row of radio buttons, and a custom range of two dates.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../ui/Button.tsx'
import { Choice } from '../../ui/form/Choice.tsx'
import { TextField } from '../../ui/form/Field.tsx'
import { customRangeProblem, type Period, periods, type Span } from './period.ts'

export function PeriodChoice(props: {
  readonly period: Period
  readonly span: Span
  readonly today: string
  readonly onChange: (period: Period, days?: Pick<Span, 'from' | 'to'>) => void
}) {
  const { period, span, today, onChange } = props
  const { t } = useTranslation()
  return (
    <div className="grid gap-4">
      <Choice
        label={t('usage.period.label')}
        value={period}
        options={periods.map((value) => ({ value, label: t(`usage.period.${value}`) }))}
        // A custom range begins with the days that are shown.
        onChange={(value) => (value === 'own' ? onChange(value, span) : onChange(value))}
      />
      {period === 'own' && (
        <CustomRange
          key={`${span.from} ${span.to}`}
          span={span}
          today={today}
          onChange={(days) => onChange('own', days)}
        />
      )}
    </div>
  )
}

function CustomRange(props: {
  readonly span: Span
  readonly today: string
  readonly onChange: (days: Pick<Span, 'from' | 'to'>) => void
}) {
  const { t } = useTranslation()
  const [from, setFrom] = useState(props.span.from)
  const [to, setTo] = useState(props.span.to)
  const [problem, setProblem] = useState<ReturnType<typeof customRangeProblem>>()
  return (
    <form
      className="flex flex-wrap items-start gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        const found = customRangeProblem(from, to)
        setProblem(found)
        if (found === undefined) props.onChange({ from, to })
      }}
    >
      <TextField
        type="date"
        label={t('usage.period.from')}
        value={from}
        max={props.today}
        error={problem === undefined ? undefined : t(`usage.period.${problem}`)}
        onChange={setFrom}
      />
      <TextField
        type="date"
        label={t('usage.period.to')}
        value={to}
        max={props.today}
        onChange={setTo}
      />
      <Button type="submit" className="sm:mt-7.5">
        {t('usage.period.show')}
      </Button>
    </form>
  )
}
