// op alarms: what is wrong now, as far as the product's own tables show, and where the runbook is.
// Prometheus sees more, such as a machine that is gone; this works without it.
import { isDatabaseUnavailable } from '../../platform/db/database-errors.ts'
import { EXIT_DONE, EXIT_FAILED } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import type { OperatorModules } from '../desk/modules.ts'
import { tableOf } from '../desk/table.ts'
import { checks, type Firing } from './checks.ts'
import { alarmTable, type Severity } from './table.ts'

export type Alarm = Firing & {
  readonly severity: Severity
  readonly alert: string | null
  readonly runbook: string
}

export type Alarms = {
  /** Urgent ones first. */
  readonly alarms: readonly Alarm[]
  /** Checks that failed, and why: what they watch is not known. */
  readonly unchecked: readonly { readonly check: string; readonly why: string }[]
}

export async function readAlarms(modules: OperatorModules): Promise<Alarms> {
  const unchecked: { check: string; why: string }[] = []
  const found = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        return await check(modules)
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error
        unchecked.push({ check: name, why: error instanceof Error ? error.message : String(error) })
        return []
      }
    }),
  )
  const alarms = found.flat().map((one): Alarm => ({ ...one, ...alarmTable[one.name] }))
  const isUrgent = ({ severity }: Alarm) => Number(severity === 'page')
  return { alarms: alarms.toSorted((a, b) => isUrgent(b) - isUrgent(a)), unchecked }
}

const COLUMNS = [
  { head: 'alarm' },
  { head: 'urgency' },
  { head: 'what' },
  { head: 'runbook' },
] as const

/** Exits with 1 while there is an alarm, or a check failed. */
export async function showAlarms(desk: Desk): Promise<number> {
  const { alarms, unchecked } = await readAlarms(desk.modules)
  const rows = alarms.map(({ name, severity, detail, runbook }) => [
    ...[name, severity, detail, runbookPath(runbook)],
  ])
  desk.say({ alarms, unchecked }, [
    // Not cut to the terminal: the address of the runbook is at the end.
    ...(rows.length === 0
      ? ['nothing is wrong']
      : tableOf(COLUMNS, rows, Number.POSITIVE_INFINITY)),
    ...unchecked.map(({ check, why }) => `${check} could not be checked: ${why}`),
  ])
  return rows.length + unchecked.length === 0 ? EXIT_DONE : EXIT_FAILED
}

/** `operator-commands#op-spool` is docs/operator-commands.md#op-spool. */
export function runbookPath(runbook: string): string {
  const [document = '', anchor = ''] = runbook.split('#')
  const file = document === 'deploy' ? 'deploy/README.md' : `docs/${document}.md`
  return `${file}#${anchor}`
}
