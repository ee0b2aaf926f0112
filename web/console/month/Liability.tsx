// What we owe, from opening to closing: two pictures, and the tables by kind and pack that they
// are the sums of.
import { useTranslation } from 'react-i18next'
import type {
  CreditsMovement,
  LiabilityRow,
  Month,
  PackMovement,
} from '../../../src/operator/console/contract/month.ts'
import { Panel } from '../../ui/parts.tsx'
import type { Column } from '../../ui/Table.tsx'
import { useName } from '../use-name.ts'
import { Bridge } from './Bridge.tsx'
import { FigureTable } from './FigureTable.tsx'
import { useAmount, useRowName } from './names.ts'

const CREDITS = [
  ...(['opening', 'credited', 'used', 'refunded', 'disputed', 'adjusted', 'closing'] as const),
] satisfies (keyof CreditsMovement)[]
const PACKS = [
  ...(['opening', 'sold', 'revenue', 'returned', 'adjusted', 'closing'] as const),
] satisfies (keyof PackMovement)[]
/** These are added to the opening; all others between the ends are taken from it. */
const ADDED: readonly string[] = ['credited', 'sold']
const WHOLE: readonly string[] = ['opening', 'closing']

export function Liability({ liability }: Pick<Month, 'liability'>) {
  const { t } = useTranslation()
  const { rows, credits, kopecks } = liability
  return (
    <>
      <div className="grid gap-6 lg:grid-cols-2 print:grid-cols-1">
        <Panel title={t('console.month.bridge')} hint={t('console.month.bridgeHint')}>
          <Bridge steps={useSteps(CREDITS, credits, 'microcredits')} />
        </Panel>
        <Panel title={t('console.month.packBridge')} hint={t('console.month.packBridgeHint')}>
          <Bridge steps={useSteps(PACKS, kopecks, 'kopecks')} />
        </Panel>
      </div>
      <Panel title={t('console.month.credits')}>
        <FigureTable
          caption={t('console.month.credits')}
          columns={useColumns(CREDITS, 'microcredits')}
          rows={[
            ...rows.map((row) => ({ row, amounts: row.credits })),
            { row: null, amounts: credits },
          ]}
          rowId={rowId}
        />
      </Panel>
      <Panel title={t('console.month.packs')}>
        <FigureTable
          caption={t('console.month.packs')}
          columns={useColumns(PACKS, 'kopecks')}
          rows={[
            ...rows.flatMap((row) => (row.kopecks === null ? [] : [{ row, amounts: row.kopecks }])),
            { row: null, amounts: kopecks },
          ]}
          rowId={rowId}
        />
      </Panel>
    </>
  )
}

type Unit = 'microcredits' | 'kopecks'
/** `row` null: the sum of all. */
type Line<Name extends string> = {
  readonly row: LiabilityRow | null
  readonly amounts: Readonly<Record<Name, string>>
}

function rowId({ row }: Line<never>): string {
  return row === null ? 'all' : `${row.kind} ${row.pack ?? ''}`
}

function useSteps<Name extends string>(
  names: readonly Name[],
  amounts: Readonly<Record<Name, string>>,
  unit: Unit,
) {
  const text = useAmount()
  const figureName = useName('month.figure')
  return names.map((name) => {
    const isWhole = WHOLE.includes(name)
    const size = BigInt(amounts[name])
    const amount = isWhole || ADDED.includes(name) ? size : -size
    const plus = !isWhole && amount > 0n ? '+' : ''
    return { id: name, label: figureName(name), amount, isWhole, text: plus + text(amount, unit) }
  })
}

function useColumns<Name extends string>(names: readonly Name[], unit: Unit): Column<Line<Name>>[] {
  const { t } = useTranslation()
  const text = useAmount()
  const rowName = useRowName()
  const figureName = useName('month.figure')
  return [
    {
      id: 'name',
      label: t('console.month.rowLabel'),
      isTitle: true,
      cell: ({ row }) => (row === null ? <b>{t('console.month.total')}</b> : rowName(row)),
    },
    ...names.map((name) => ({
      ...{ id: name, label: figureName(name), isNumber: true },
      cell: ({ amounts }: Line<Name>) => text(amounts[name], unit),
    })),
  ]
}
