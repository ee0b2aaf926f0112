// The accountant's months for the console, in the contract's form. The reports module counts them.
import { isRefusal } from '../../../platform/refusal.ts'
import type {
  CreditsRow,
  Difference,
  FigureLine,
  MonthRefusalCode,
  MonthReport,
} from '../../../reports/reports.ts'
import type { OperatorModules } from '../../desk/modules.ts'
import type { FigureUnit } from '../contract/contract.ts'
import type * as contract from '../contract/month.ts'
import { ConsoleRefusal } from '../refusals.ts'
import type { RouteTable } from '../routes.ts'
import { timeOf } from './amounts.ts'
import type { InTurn } from './in-turn.ts'

type MonthRoute = 'GET /api/months' | 'GET /api/months/:month'

export function monthRoutes({ reports }: OperatorModules, inTurn: InTurn): RouteTable<MonthRoute> {
  return {
    'GET /api/months': {
      access: 'month.read',
      run: async () => ({
        months: (await reports.listMonths()).map((one) => ({ ...one, seal: sealOf(one) })),
      }),
    },

    'GET /api/months/:month': {
      access: 'month.read',
      async run({ params }) {
        const { month } = params
        const read = inTurn(`months ${month}`, () => reports.month(month))
        const report = await read.catch((error: unknown) => {
          if (!isRefusal<MonthRefusalCode>(error, 'month_unknown')) throw error
          throw new ConsoleRefusal('thing_unknown', error.message)
        })
        return { ...monthOf(report), csv: `${reports.csv(report).join('\r\n')}\r\n` }
      },
    },
  }
}

function monthOf(report: MonthReport): Omit<contract.Month, 'csv'> {
  const { figures, lines, corrections, differences } = report
  const { month, timeZone, isOver, liability } = figures
  return {
    ...{ month, timeZone, isOver, seal: sealOf(report) },
    liability: {
      rows: liability.rows.map(rowOf),
      credits: texts(liability.total),
      kopecks: texts(liability.kopecks),
    },
    lines: lines.filter(({ section }) => section !== 'liability').map(lineOf),
    corrections: corrections.map((one) => changeOf(one.about, one)),
    differences: differences.map((one) => changeOf(month, one)),
  }
}

function sealOf({ seal }: Pick<MonthReport, 'seal'>): contract.MonthSeal | null {
  return seal === null ? null : { ...seal, sealedAt: timeOf(seal.sealedAt) }
}

function rowOf({ kind, pack, title, kopecks, ...credits }: CreditsRow): contract.LiabilityRow {
  return {
    ...{ kind, pack, title, credits: texts(credits) },
    kopecks: kopecks === null ? null : texts(kopecks),
  }
}

function texts<Name extends string>(amounts: Readonly<Record<Name, bigint>>): Record<Name, string> {
  const pairs = Object.entries(amounts).map(([name, amount]) => [name, String(amount)])
  return Object.fromEntries(pairs) as Record<Name, string>
}

const units = {
  credits: 'microcredits',
  roubles: 'kopecks',
  count: 'count',
  percent: 'tenths',
} as const satisfies Record<FigureLine['unit'], FigureUnit>

function lineOf({ section, item, figure, unit, value }: FigureLine): contract.MonthLine {
  return { section, item, figure, unit: units[unit], value: textOrNull(value) }
}

function changeOf(about: string, one: Difference): contract.MonthChange {
  const { section, item, figure, unit, before, now } = one
  return {
    ...{ about, section, item, figure, unit: units[unit] },
    ...{ before: textOrNull(before), now: textOrNull(now) },
  }
}

function textOrNull(value: bigint | null): string | null {
  return value === null ? null : String(value)
}
