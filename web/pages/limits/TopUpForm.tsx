// The settings of automatic top-up: pack, threshold and monthly ceiling, and the full sentence of
// the agreement with these numbers. Its text has a version, which the server compares.
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Pack } from '../../../src/cabinet/contract/contract.ts'
import type { TopUp } from '../../../src/cabinet/contract/guards.ts'
import { useFreshSession } from '../../account/FreshSession.tsx'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { call, isApiRefusal } from '../../runtime/api.ts'
import { packsQuery, topUpQuery } from '../../runtime/queries.ts'
import { CheckField, SelectField } from '../../ui/form/Field.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { WholeField } from '../../ui/form/WholeField.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { kopecksOf, wholeOf } from './amount.ts'

/** The suggested threshold is a tenth of the pack: about an evening of work for most. */
const THRESHOLD_PART = 10n
/** The suggested monthly ceiling: enough for a busy month, and still a moderate sum. */
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

/** The form's values, their validation, and the call that saves them. */
function useTopUpForm({ topUp, packs, onDone }: TopUpFormProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const client = useQueryClient()
  const withFreshSession = useFreshSession()
  const toast = useToast()
  const packOf = (id: string) => packs.find((one) => one.id === id)
  const { settings } = topUp
  const first = packOf(settings?.pack ?? '') ?? packs[0]
  const form = useForm<Values>({
    initial: {
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
      const answer = await withFreshSession(() => call('POST /api/top-up', { body })).catch(
        showNewTerms,
      )
      client.setQueryData(topUpQuery.queryKey, answer)
      toast(t('topUp.turnedOn'))
      onDone()
    },
  })

  /** Changed terms need a new agreement: loads them and clears the tick. */
  async function showNewTerms(error: unknown): Promise<never> {
    if (isApiRefusal(error, 'pack_changed')) {
      await client.invalidateQueries({ queryKey: packsQuery.queryKey })
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

/** The sentence that the owner agrees to, with the numbers of the fields. */
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
