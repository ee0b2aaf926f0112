// The terms of a mandate: pack, threshold and ceilings, and the full sentence of the consent with
// these numbers. Its text has a version, which the server compares.
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Pack } from '../../../src/cabinet/contract/contract.ts'
import type { TopUp } from '../../../src/cabinet/contract/guards.ts'
import { useStepUp } from '../../account/StepUp.tsx'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { call, isApiRefusal } from '../../runtime/api.ts'
import { packsQuery, topUpHistoryQuery, topUpQuery } from '../../runtime/queries.ts'
import { CheckField, SelectField } from '../../ui/form/Field.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { WholeField } from '../../ui/form/WholeField.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { kopecksOf, wholeOf } from '../limits/amount.ts'
import { InRubles } from '../limits/InRubles.tsx'

/** The suggested threshold is a tenth of the pack: about an evening of work for most. */
const THRESHOLD_PART = 10n
/** The suggested ceilings: enough for a busy month, and no second charge on the same day. */
const PACKS_A_DAY = 1n
const PACKS_A_MONTH = 3n

type Values = {
  readonly pack: string
  readonly threshold: string
  readonly dayCeiling: string
  readonly monthCeiling: string
  readonly isAgreed: boolean
}

type MandateFormProps = {
  readonly topUp: TopUp
  readonly packs: readonly Pack[]
  readonly onDone: () => void
}

export function MandateForm(props: MandateFormProps) {
  const { topUp } = props
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const packs = props.packs.filter(({ methods }) => methods.includes('card'))
  const { form, packOf } = useMandateForm({ ...props, packs })
  const { values } = form
  /** A dearer pack raises the ceilings to its price: below that nothing could be bought. */
  function choosePack(id: string): void {
    const price = BigInt(packOf(id)?.priceKopecks ?? 0)
    form.set('pack', id)
    for (const name of ['dayCeiling', 'monthCeiling'] as const) {
      if (BigInt(kopecksOf(values[name]) || 0) >= price) continue
      form.set(name, format.whole(wholeRubles(price)))
    }
  }
  return (
    <Form form={form} submit={t(topUp.mandate?.ended === null ? 'topUp.replace' : 'topUp.turnOn')}>
      <SelectField
        label={t('topUp.pack')}
        name="pack"
        value={values.pack}
        onChange={choosePack}
        options={packs.map((pack) => ({
          value: pack.id,
          label: `${phrases.creditsShort(pack.credits)} · ${format.rubles(pack.priceKopecks)}`,
        }))}
      />
      <WholeField
        {...form.text('threshold')}
        label={t('topUp.threshold')}
        hint={
          <>
            {t('topUp.thresholdHint')}
            <InRubles text={values.threshold} />
          </>
        }
      />
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <WholeField
          {...form.text('dayCeiling')}
          label={t('topUp.dayCeiling')}
          hint={t('topUp.dayCeilingHint', { clock: format.utcMidnight() })}
        />
        <WholeField
          {...form.text('monthCeiling')}
          label={t('topUp.monthCeiling')}
          hint={t('topUp.monthCeilingHint')}
        />
      </div>
      <CheckField {...form.box('isAgreed')} hint={t('topUp.consentHint')}>
        <Consent title={topUp.method?.title ?? ''} pack={packOf(values.pack)} values={values} />
      </CheckField>
    </Form>
  )
}

/** The form's values, their validation, and the call that saves them. */
function useMandateForm({ topUp, packs, onDone }: MandateFormProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const client = useQueryClient()
  const withStepUp = useStepUp()
  const toast = useToast()
  const packOf = (id: string) => packs.find((one) => one.id === id)
  const rublesOf = (kopecks: string): string => format.whole(wholeRubles(BigInt(kopecks)))
  const { mandate } = topUp
  const first = packOf(mandate?.pack ?? '') ?? packs[0]
  const form = useForm<Values>({
    initial: {
      pack: first?.id ?? '',
      threshold:
        mandate === null ? format.whole(thresholdFor(first)) : format.credits(mandate.threshold),
      dayCeiling: rublesOf(mandate?.dayCeilingKopecks ?? priceOf(first, PACKS_A_DAY)),
      monthCeiling: rublesOf(mandate?.monthCeilingKopecks ?? priceOf(first, PACKS_A_MONTH)),
      isAgreed: false,
    },
    check: (values) => problemsOf(values, packOf(values.pack)),
    async send({ pack, threshold, dayCeiling, monthCeiling }) {
      const seen = packOf(pack)
      const body = {
        pack,
        priceKopecks: seen?.priceKopecks ?? '',
        credits: seen?.credits.whole ?? '',
        threshold: wholeOf(threshold) ?? '',
        dayCeilingKopecks: kopecksOf(dayCeiling) ?? '',
        monthCeilingKopecks: kopecksOf(monthCeiling) ?? '',
        consentVersion: topUp.consentVersion,
      }
      const answer = await withStepUp(() => call('POST /api/top-up', { body })).catch(showNewTerms)
      client.setQueryData(topUpQuery.queryKey, answer)
      void client.invalidateQueries({ queryKey: topUpHistoryQuery.queryKey })
      toast(t('topUp.turnedOn'))
      onDone()
    },
  })

  /** Changed terms need a new consent: loads them and clears the tick. */
  async function showNewTerms(error: unknown): Promise<never> {
    if (isApiRefusal(error, 'pack_changed')) {
      await client.invalidateQueries({ queryKey: packsQuery.queryKey })
      form.set('isAgreed', false)
    }
    throw error
  }
  function problemsOf(values: Values, pack: Pack | undefined) {
    const threshold = wholeOf(values.threshold)
    const day = kopecksOf(values.dayCeiling)
    const month = kopecksOf(values.monthCeiling)
    const isHigh = pack !== undefined && BigInt(threshold ?? 0) >= BigInt(pack.credits.whole)
    const isLow = pack !== undefined && BigInt(day ?? 0) < BigInt(pack.priceKopecks)
    const isBelowDay = BigInt(month ?? 0) < BigInt(day ?? 0)
    return {
      threshold: !threshold ? t('limits.amountWrong') : isHigh ? t('topUp.tooHigh') : undefined,
      dayCeiling: !day ? t('limits.amountWrong') : isLow ? t('topUp.tooLow') : undefined,
      monthCeiling: !month
        ? t('limits.amountWrong')
        : isBelowDay
          ? t('topUp.monthBelowDay')
          : undefined,
      isAgreed: values.isAgreed ? undefined : t('topUp.agreeFirst'),
    }
  }
  return { form, packOf }
}

/** The sentence that the owner agrees to, with the numbers of the fields. */
function Consent(props: {
  readonly title: string
  readonly pack: Pack | undefined
  readonly values: Values
}) {
  const { title, pack, values } = props
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const threshold = wholeOf(values.threshold) || '0'
  return t('topUp.consent', {
    title,
    rubles: format.rubles(pack?.priceKopecks ?? '0'),
    credits: phrases.credits(pack?.credits ?? { whole: '0', exact: '0' }),
    threshold: phrases.credits({ whole: threshold, exact: threshold }),
    day: format.rubles(kopecksOf(values.dayCeiling) || '0'),
    month: format.rubles(kopecksOf(values.monthCeiling) || '0'),
  })
}

/** Rounded up, so that a suggested ceiling allows the price. */
function wholeRubles(kopecks: bigint): bigint {
  return (kopecks + 99n) / 100n
}

function thresholdFor(pack: Pack | undefined): bigint {
  return BigInt(pack?.credits.whole ?? 0) / THRESHOLD_PART
}

function priceOf(pack: Pack | undefined, packs: bigint): string {
  return pack === undefined ? '0' : String(BigInt(pack.priceKopecks) * packs)
}
