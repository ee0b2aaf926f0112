// The whole period by key, with all figures of each. The name of a key filters the log by it.
import { useTranslation } from 'react-i18next'
import type { Usage, UsageSeries } from '../../../../src/cabinet/contract/usage.ts'
import { MILLION, millionthsOf, roundedParts, sumOf } from '../../../format/decimal.ts'
import { secondsText } from '../../../format/durations.ts'
import { usePhrases } from '../../../format/phrases.ts'
import { kopecksForParts } from '../../../format/roubles.ts'
import { useFormat } from '../../../format/use-format.ts'
import { usePackRate } from '../../../format/use-rubles.ts'
import { Credits } from '../../../ui/amounts.tsx'
import { Panel } from '../../../ui/parts.tsx'
import { type Column, Table } from '../../../ui/Table.tsx'
import { idOf, REST_ID } from './chart.ts'
import { useKeyName } from './labels.ts'

/** Amounts are rounded together, so that they add up to the total below. */
type Line = UsageSeries & { readonly kopecks: bigint | undefined }

export function Totals(props: { readonly usage: Usage; readonly onShow: (key: string) => void }) {
  const { usage, onShow } = props
  const { totals, split, whole } = usage
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const lines = useLines(totals)
  const columns = useColumns(usage, onShow)
  const kopecks = lines.map((line) => line.kopecks ?? 0n)
  const amounts = {
    credits: phrases.credits(whole.credits),
    rubles: format.rubles(String(sumOf(kopecks))),
    requests: phrases.requests(whole.requests),
  }
  const hasRubles = lines.some((line) => line.kopecks !== undefined)
  return (
    <Panel title={t(`usage.totals.title.${split}`)} hint={t('usage.totals.hint')}>
      <Table
        caption={t(`usage.totals.title.${split}`)}
        columns={columns}
        rows={lines}
        rowId={idOf}
        isWide
      />
      <p className="figures mt-4 font-medium">
        {t(hasRubles ? 'usage.totals.summaryRubles' : 'usage.totals.summary', amounts)}
      </p>
    </Panel>
  )
}

function useLines(totals: readonly UsageSeries[]): readonly Line[] {
  const rate = usePackRate()
  const exact = totals.map(({ credits }) => millionthsOf(credits.exact))
  const whole = roundedParts(exact, MILLION)
  const kopecks = rate === undefined ? [] : kopecksForParts(exact, rate)
  return totals.map((use, line) => ({
    ...use,
    credits: { ...use.credits, whole: String(whole[line]) },
    kopecks: kopecks[line],
  }))
}

function useColumns({ split }: Usage, onShow: (key: string) => void): readonly Column<Line>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const nameOf = useKeyName(split)
  const counted = (
    id: 'input' | 'output' | 'cacheRead' | 'cacheWrite',
    of: (use: Line) => bigint,
  ): Column<Line> => ({
    ...{ id, label: t(`usage.table.${id}`), isNumber: true },
    cell: (use) => format.whole(of(use)),
  })
  return [
    {
      ...{ id: 'key', label: t(`usage.explorer.split.${split}`), isTitle: true },
      cell: (use) => <KeyButton {...{ use, nameOf, onShow }} />,
    },
    {
      ...{ id: 'requests', label: t('usage.table.requests'), isNumber: true },
      cell: (use) => <Requests use={use} />,
    },
    counted('input', ({ input }) => BigInt(input)),
    counted('output', ({ output }) => BigInt(output)),
    counted('cacheRead', ({ cacheRead }) => BigInt(cacheRead)),
    counted('cacheWrite', (use) => BigInt(use.cacheWrite5m) + BigInt(use.cacheWrite1h)),
    {
      ...{ id: 'firstByte', label: t('usage.table.firstByte'), isNumber: true },
      cell: ({ firstByte }) =>
        firstByte === null ? '—' : secondsText(format.language, firstByte.p50),
    },
    {
      ...{ id: 'rubles', label: t('usage.table.rubles'), isNumber: true },
      cell: ({ kopecks }) => (kopecks === undefined ? '—' : format.rubles(String(kopecks))),
    },
    {
      ...{ id: 'credits', label: t('usage.table.credits'), isNumber: true },
      cell: ({ credits }) => <Credits value={credits} />,
    },
  ]
}

function Requests({ use }: { readonly use: Line }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <>
      {format.whole(use.requests)}
      {use.free !== '0' && (
        <span className="block text-sm text-soft">
          {t('usage.table.free', { shown: format.whole(use.free) })}
        </span>
      )}
    </>
  )
}

/** Requests without a key, and those of the rest, have no filter. */
function KeyButton(props: {
  readonly use: Line
  readonly nameOf: (id: string) => string
  readonly onShow: (key: string) => void
}) {
  const { use, nameOf, onShow } = props
  const id = idOf(use)
  if (id === REST_ID || id === '') return nameOf(id)
  return (
    <button
      type="button"
      className="min-h-9 rounded-part text-start wrap-anywhere text-accent underline-offset-2
        hover:underline"
      onClick={() => onShow(id)}
    >
      {nameOf(id)}
    </button>
  )
}
