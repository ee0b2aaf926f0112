// Commands for figures: today, and the accountant's months.
import { sealMonth, showMonth, showToday } from '../reports/reports.ts'
import type { OperatorCommand } from './command.ts'

export const reportCommands: readonly OperatorCommand[] = [
  {
    usage: 'today',
    description: 'money, credits, margin, requests and upstreams since midnight',
    permission: 'figures.read',
    isUnattended: true,
    run: showToday,
  },
  {
    usage: 'month show [month]',
    description: 'the accountant’s figures of a month, such as 2026-11; this one without a month',
    permission: 'month.read',
    isUnattended: true,
    isDefault: true,
    options: [['--csv', 'one figure per line, for a spreadsheet']],
    run: showMonth,
  },
  {
    usage: 'month seal <month>',
    description: 'keep the figures of a month for good; months are sealed in turn',
    permission: 'month.seal',
    options: [['--reason <text>', 'who agreed, for example; recorded with the action']],
    run: sealMonth,
  },
]
