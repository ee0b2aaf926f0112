// Commands about the public status page.
import { closeIncident, listIncidents, openIncident, updateIncident } from '../incidents.ts'
import type { OperatorCommand } from './command.ts'

const TEXTS = [
  ['--ru <text>', 'what customers read, in Russian', 'needed'],
  ['--en <text>', 'the same in English', 'needed'],
] as const

export const statusCommands: readonly OperatorCommand[] = [
  {
    usage: 'incident list',
    permission: 'health.read',
    isUnattended: true,
    description: 'what the status page says of the last 90 days',
    run: listIncidents,
  },
  {
    usage: 'incident open <parts>',
    permission: 'incidents.write',
    description: 'tell everybody: gateway,models,payments,letters; with --to it is maintenance',
    options: [
      ['--title-ru <text>', 'one line, in Russian', 'needed'],
      ['--title-en <text>', 'the same in English', 'needed'],
      ...TEXTS,
      ['--from <moment>', 'when maintenance begins; now without it'],
      ['--to <moment>', 'until when it is planned'],
    ],
    run: openIncident,
  },
  {
    usage: 'incident update <id>',
    permission: 'incidents.write',
    description: 'add what is known now',
    options: [...TEXTS, ['--state <word>', 'investigating, identified or watching']],
    run: updateIncident,
  },
  {
    usage: 'incident close <id>',
    permission: 'incidents.write',
    description: 'it is over; the page keeps it for 90 days',
    options: TEXTS,
    run: closeIncident,
  },
]
