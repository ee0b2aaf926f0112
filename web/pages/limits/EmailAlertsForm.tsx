// When to send an e-mail about a low balance: below an amount of credits, a number of days, or
// both. E-mails about refused requests are always sent.
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Guards } from '../../../src/cabinet/contract/guards.ts'
import { useFormat } from '../../format/use-format.ts'
import { call } from '../../runtime/api.ts'
import { guardsQuery, homeQuery } from '../../runtime/queries.ts'
import { useMe } from '../../runtime/session.ts'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { WholeField } from '../../ui/form/WholeField.tsx'
import { Panel } from '../../ui/parts.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { countOf, wholeOf } from './amount.ts'
import { InRubles } from './InRubles.tsx'

const DAYS_MAX = 90

export function EmailAlertsForm({ guards }: { readonly guards: Guards }) {
  const { t } = useTranslation()
  const { email } = useMe()
  const format = useFormat()
  const client = useQueryClient()
  const toast = useToast()
  const { lowCredits, lowDays } = guards
  const form = useForm({
    initial: {
      credits: lowCredits === null ? '' : format.credits(lowCredits),
      days: lowDays === null ? '' : String(lowDays),
    },
    check: ({ credits, days }) => ({
      credits: wholeOf(credits) === undefined ? t('limits.amountWrong') : undefined,
      days:
        countOf(days, DAYS_MAX) === undefined
          ? t('limits.letters.daysWrong', { max: DAYS_MAX })
          : undefined,
    }),
    async send({ credits, days }) {
      const body = {
        lowCredits: wholeOf(credits) ?? null,
        lowDays: countOf(days, DAYS_MAX) ?? null,
      }
      const answer = await call('POST /api/guards/letters', { body })
      client.setQueryData(guardsQuery.queryKey, answer)
      // The overview shows its notice by the same thresholds.
      await client.invalidateQueries({ queryKey: homeQuery.queryKey })
      toast(t('limits.saved'))
    },
  })
  return (
    <Panel title={t('limits.letters.title')} hint={t('limits.letters.hint', { email })}>
      <Form form={form} submit={t('limits.save')} tone="plain">
        <div className="grid items-start gap-5 sm:grid-cols-2 xl:grid-cols-1 2xl:grid-cols-2">
          <WholeField
            {...form.text('credits')}
            label={t('limits.letters.credits')}
            hint={
              <>
                {t('limits.letters.creditsHint')}
                <InRubles text={form.values.credits} />
              </>
            }
            placeholder={t('limits.letters.never')}
          />
          <WholeField
            {...form.text('days')}
            label={t('limits.letters.days')}
            hint={t('limits.letters.daysHint')}
            placeholder={t('limits.letters.never')}
          />
        </div>
        <p className="max-w-prose text-sm text-soft">{t('limits.letters.always')}</p>
      </Form>
    </Panel>
  )
}
