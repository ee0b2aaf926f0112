// The result of the calculator: credits a request, a day and a month, and how long each pack lasts.
import { useTranslation } from 'react-i18next'
import type {
  Credits as CreditsValue,
  Kopecks,
  Pack,
} from '../../../src/cabinet/contract/contract.ts'
import type { PriceList } from '../../../src/cabinet/contract/prices.ts'
import { creditsOf } from '../../format/decimal.ts'
import { usePhrases } from '../../format/phrases.ts'
import { usePriceWords } from '../../format/price-words.ts'
import { kopecksFor } from '../../format/roubles.ts'
import { useFormat } from '../../format/use-format.ts'
import { useRate } from '../../format/use-rate.ts'
import { Rubles } from '../../ui/amounts.tsx'
import { Table } from '../../ui/Table.tsx'
import { daysOf } from './estimate.ts'

/** An average month. */
const MONTH_DAYS = 30n

export function CalculatorResult(props: {
  readonly perRequest: bigint
  /** Requests a day. */
  readonly requests: bigint
  readonly packs: readonly Pack[]
  readonly list: PriceList
}) {
  const { perRequest, requests, packs, list } = props
  const { t } = useTranslation()
  const words = usePriceWords()
  const phrases = usePhrases()
  const rate = useRate()
  const perDay = perRequest * requests
  const perMonth = perDay * MONTH_DAYS
  const figure = (name: 'perRequest' | 'perDay' | 'perMonth', microcredits: bigint) => (
    <Figure
      name={t(`prices.calculator.${name}`)}
      value={creditsOf(microcredits)}
      kopecks={rate?.kopecks(microcredits)}
    />
  )
  return (
    <div className="grid gap-5 border-t border-line pt-5">
      <dl aria-live="polite" className="grid gap-4 sm:grid-cols-3">
        {figure('perRequest', perRequest)}
        {figure('perDay', perDay)}
        {figure('perMonth', perMonth)}
      </dl>
      {list.name !== '' && (
        <p className="text-sm">{t('prices.calculator.list', { list: words.list(list) })}</p>
      )}
      {packs.length > 0 && (
        <Table
          caption={t('prices.calculator.table')}
          rows={packs}
          rowId={({ id }) => id}
          columns={[
            {
              id: 'pack',
              label: t('prices.calculator.pack'),
              isTitle: true,
              cell: ({ credits }) => phrases.creditsShort(credits),
            },
            {
              id: 'month',
              label: t('prices.calculator.month'),
              isNumber: true,
              cell: (pack) => <Rubles kopecks={kopecksFor(perMonth, pack)} />,
            },
            {
              id: 'lasts',
              label: t('prices.calculator.lasts'),
              isNumber: true,
              cell: (pack) => <Days days={daysOf(pack, perDay)} />,
            },
          ]}
        />
      )}
      <p className="text-sm text-soft">
        {rate !== undefined && `${t('prices.calculator.rate', { source: rate.source })} `}
        {t('prices.calculator.rounding')}
      </p>
    </div>
  )
}

function Figure(props: {
  readonly name: string
  readonly value: CreditsValue
  /** Undefined: the price is not known. */
  readonly kopecks: Kopecks | undefined
}) {
  const { name, value, kopecks } = props
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  return (
    <div className="min-w-0">
      <dt className="text-sm text-soft">{name}</dt>
      <dd className="figures font-serif text-xl font-semibold wrap-anywhere">
        {phrases.creditsExact(value)}
        {kopecks !== undefined && (
          <span className="block font-sans text-base font-normal text-soft">
            {t('credits.about', { rubles: format.rubles(kopecks) })}
          </span>
        )}
      </dd>
    </div>
  )
}

function Days({ days }: { readonly days: bigint | null }) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  if (days === null) return t('prices.calculator.never')
  if (days === 0n) return t('prices.calculator.underDay')
  return t('prices.calculator.days', { count: phrases.form(days), shown: format.whole(days) })
}
