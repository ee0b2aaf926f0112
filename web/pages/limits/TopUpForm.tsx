// What to buy, when, and how much in a month; and the agreement in full, with the very numbers. The
// text of the agreement has a version, which the server compares.
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Pack } from '../../../src/cabinet/contract/contract.ts'
import type { TopUp } from '../../../src/cabinet/contract/guards.ts'
import { useFreshly } from '../../account/Freshly.tsx'
import { useFormat } from '../../format/format.ts'
import { usePhrases } from '../../format/phrases.ts'
import { call, isNo } from '../../runtime/api.ts'
import { packsAsk, topUpAsk } from '../../runtime/asks.ts'
import { CheckField, SelectField } from '../../ui/form/Field.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/form.ts'
import { WholeField } from '../../ui/form/WholeField.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { kopecksOf, wholeOf } from './amount.ts'

/** A tenth of the pack is an evening's work away from nothing, for most. */
const THRESHOLD_PART = 10n
/** Enough for a busy month, and a sum that hurts nobody who meant one pack. */
const PACKS_A_MONTH = 3n

type Values = {
  readonly pack: string
  readonly threshold: string
  readonly ceiling: string
  readonly isAgreed: boolean
}

type TopUpFormProps = {
  readonly topUp: TopUp
  readonly packs: readonly Pack[]
  readonly onDone: () => void
}

export function TopUpForm(props: TopUpFormProps) {
  const { topUp } = props
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const packs = props.packs.filter(({ methods }) => methods.includes('card'))
  const { form, packOf } = useTopUpForm({ ...props, packs })
  const { values } = form
  return (
    <Form form={form} submit={t(topUp.isOn ? 'limits.save' : 'topUp.turnOn')}>
      <SelectField
        label={t('topUp.pack')}
        name="pack"
        value={values.pack}
        onChange={(value) => form.set('pack', value)}
        options={packs.map((pack) => ({
          value: pack.id,
          label: `${phrases.creditsShort(pack.credits)} · ${format.rubles(pack.priceKopecks)}`,
        }))}
      />
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <WholeField
          {...form.text('threshold')}
          label={t('topUp.threshold')}
          hint={t('topUp.thresholdHint')}
        />
        <WholeField
          {...form.text('ceiling')}
          label={t('topUp.ceiling')}
          hint={t('topUp.ceilingHint')}
        />
      </div>
      <CheckField {...form.box('isAgreed')} hint={t('topUp.consentHint')}>
        <Agreement title={topUp.method?.title ?? ''} pack={packOf(values.pack)} values={values} />
      </CheckField>
    </Form>
  )
}

/** The form's values, their checks, and what is sent. */
function useTopUpForm({ topUp, packs, onDone }: TopUpFormProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const client = useQueryClient()
  const freshly = useFreshly()
  const toast = useToast()
  const packOf = (id: string) => packs.find((one) => one.id === id)
  const { settings } = topUp
  const first = packOf(settings?.pack ?? '') ?? packs[0]
  const form = useForm<Values>({
    start: {
      pack: first?.id ?? '',
      threshold: settings === null ? thresholdFor(first) : format.credits(settings.threshold),
      ceiling: rublesOf(settings?.ceilingKopecks ?? ceilingFor(first)),
      isAgreed: false,
    },
    check: (values) => problemsOf(values, packOf(values.pack)),
    async send({ pack, threshold, ceiling }) {
      const seen = packOf(pack)
      const body = {
        pack,
        priceKopecks: seen?.priceKopecks ?? '',
        credits: seen?.credits.whole ?? '',
        threshold: wholeOf(threshold) ?? '',
        ceilingKopecks: kopecksOf(ceiling) ?? '',
        consentVersion: topUp.consentVersion,
      }
      const answer = await freshly(() => call('POST /api/top-up', { body })).catch(showNewTerms)
      client.setQueryData(topUpAsk.queryKey, answer)
      toast(t('topUp.turnedOn'))
      onDone()
    },
  })

  /** Other terms are other words to agree to: the sentence gets them, and the tick goes. */
  async function showNewTerms(error: unknown): Promise<never> {
    if (isNo(error, 'pack_changed')) {
      await client.invalidateQueries({ queryKey: packsAsk.queryKey })
      form.set('isAgreed', false)
    }
    throw error
  }
  function thresholdFor(pack: Pack | undefined): string {
    return pack === undefined ? '' : format.whole(BigInt(pack.credits.whole) / THRESHOLD_PART)
  }
  function rublesOf(kopecks: string): string {
    return format.whole(BigInt(kopecks) / 100n)
  }
  function problemsOf(values: Values, pack: Pack | undefined) {
    const threshold = wholeOf(values.threshold)
    const ceiling = kopecksOf(values.ceiling)
    const isHigh = pack !== undefined && BigInt(threshold ?? 0) >= BigInt(pack.credits.whole)
    const isLow = pack !== undefined && BigInt(ceiling ?? 0) < BigInt(pack.priceKopecks)
    return {
      threshold: !threshold ? t('limits.amountWrong') : isHigh ? t('topUp.tooHigh') : undefined,
      ceiling: !ceiling ? t('limits.amountWrong') : isLow ? t('topUp.tooLow') : undefined,
      isAgreed: values.isAgreed ? undefined : t('topUp.agreeFirst'),
    }
  }
  return { form, packOf }
}

/** The sentence that is agreed to, with the numbers that stand in the fields. */
function Agreement(props: {
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
    ceiling: format.rubles(kopecksOf(values.ceiling) || '0'),
  })
}

function ceilingFor(pack: Pack | undefined): string {
  return pack === undefined ? '0' : String(BigInt(pack.priceKopecks) * PACKS_A_MONTH)
}
