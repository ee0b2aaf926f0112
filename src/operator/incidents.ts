// op incident: what the public status page says about an incident or planned maintenance, in both
// languages. Everybody reads these texts, so the plan shows them as they will appear, and what was
// published is never changed: an update corrects it.
import type { Component, IncidentRow, IncidentState } from '../status/status.ts'
import { formatTime, parseCount, parsePeriodEnd, parsePeriodStart } from './desk/amounts.ts'
import { commandError, EXIT_DONE, usageError } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'

/** Of an incident that goes on. */
const WRITTEN_STATES: readonly IncidentState[] = ['investigating', 'identified', 'watching']
/** A line of the feed and of the page; the columns have the same limits. */
const TITLE_LENGTH_MAX = 150
const TEXT_LENGTH_MAX = 2_000
const MAINTENANCE_MS_MAX = 7 * 86_400_000

export async function listIncidents(desk: Desk): Promise<number> {
  const { incidents } = await desk.modules.status.read()
  const result = incidents.map((one) => ({ ...one, id: String(one.id) }))
  const lines = incidents.flatMap(linesOf)
  desk.say({ incidents: result }, lines.length === 0 ? ['no incident within 90 days'] : lines)
  return EXIT_DONE
}

function linesOf(incident: IncidentRow): string[] {
  const { id, kind, components, title, beginsAt, endsAt, closedAt, updates } = incident
  const planned = endsAt === null ? '' : `, planned until ${formatTime(endsAt)}`
  const state = closedAt === null ? 'open' : `closed ${formatTime(closedAt)}`
  return [
    `${kind} ${id}  ${state}  ${components.join(', ')}`,
    `  from ${formatTime(beginsAt)}${planned}`,
    `  ${title.ru} / ${title.en}`,
    ...updates.map((one) => `  ${formatTime(one.at)}  ${one.state}: ${one.text.en}`),
  ]
}

export async function openIncident(desk: Desk, list: string): Promise<number> {
  const components = componentsOf(desk, list)
  const title = textsOf(desk, 'titleRu', 'titleEn', TITLE_LENGTH_MAX)
  const text = textsOf(desk, 'ru', 'en', TEXT_LENGTH_MAX)
  const beginsAt = desk.read('from', parsePeriodStart, 'a moment, such as 2026-12-01T22:00:00Z')
  const endsAt = desk.read('to', parsePeriodEnd, 'a moment, such as 2026-12-01T23:00:00Z')
  const kind = endsAt === undefined ? 'incident' : 'maintenance'
  if (kind === 'incident' && beginsAt !== undefined) throw usageError('--from goes with --to')
  requireMaintenance(desk, beginsAt, endsAt)
  const { incidents } = await desk.modules.status.read()
  const twin = incidents.find((one) => one.closedAt === null && one.title.en === title.en)
  if (twin !== undefined) {
    throw commandError(`${twin.kind} ${twin.id} with this title is open: op incident update`)
  }
  const begin = beginsAt === undefined ? 'now' : formatTime(beginsAt)
  return desk.act({
    plan: [
      `${kind} on the public status page: ${components.join(', ')}`,
      ...(endsAt === undefined
        ? []
        : [
            `  from ${begin} to ${formatTime(endsAt)}`,
            '  failures in that time count as planned, and open no outage',
          ]),
      ...[`  ru: ${title.ru}`, `      ${text.ru}`, `  en: ${title.en}`, `      ${text.en}`],
      '  everybody reads this within seconds, and the feed tells subscribers',
    ],
    work: (tx) =>
      desk.modules.status.incidents.open(tx, {
        ...{ kind, components, title, text, by: desk.by },
        ...{ beginsAt: beginsAt ?? null, endsAt: endsAt ?? null },
      }),
    report: (id) => ({
      result: { incident: String(id), kind },
      line: `${kind} ${id} is on the status page`,
    }),
  })
}

export function updateIncident(desk: Desk, id: string): Promise<number> {
  const state = desk.text('state') ?? 'investigating'
  const known = WRITTEN_STATES.find((one) => one === state)
  if (known === undefined) throw usageError(`--state is one of ${WRITTEN_STATES.join(', ')}`)
  return write(desk, id, known)
}

export function closeIncident(desk: Desk, id: string): Promise<number> {
  return write(desk, id, 'closed')
}

async function write(desk: Desk, typed: string, state: IncidentState): Promise<number> {
  const id = parseCount(typed)
  if (id === undefined) throw usageError(`an incident has a number, not ${typed}`)
  const text = textsOf(desk, 'ru', 'en', TEXT_LENGTH_MAX)
  const { incidents } = await desk.modules.status.read()
  const found = incidents.find((one) => one.id === BigInt(id))
  if (found === undefined) throw commandError(`there is no incident ${id}`)
  if (found.closedAt !== null) throw commandError(`${found.kind} ${id} is closed already`)
  return desk.act({
    plan: [
      `${found.kind} ${id}: ${found.title.en}`,
      `  becomes ${state}`,
      ...[`  ru: ${text.ru}`, `  en: ${text.en}`],
    ],
    work: (tx) =>
      desk.modules.status.incidents.update(tx, { id: BigInt(id), state, text, by: desk.by }),
    report: () => ({
      result: { incident: String(id), state },
      line: `${found.kind} ${id} is ${state}`,
    }),
  })
}

function componentsOf(desk: Desk, list: string): Component[] {
  const { components } = desk.modules.status
  const names = [...new Set(list.split(',').map((name) => name.trim()))]
  return names.map((name) => {
    const known = components.find((one) => one === name)
    if (known === undefined) throw usageError(`${name} is none of ${components.join(', ')}`)
    return known
  })
}

function requireMaintenance(desk: Desk, from: Date | undefined, to: Date | undefined): void {
  if (to === undefined) return
  const beginMs = from?.getTime() ?? desk.modules.clock.nowMs()
  if (to.getTime() <= beginMs) throw usageError('--to is not after the beginning')
  if (to.getTime() <= desk.modules.clock.nowMs()) throw usageError('--to has passed already')
  // A longer one is a mistyped year, and would excuse every outage until then.
  if (to.getTime() - beginMs > MAINTENANCE_MS_MAX) throw usageError('it may last seven days')
}

function textsOf(desk: Desk, ru: string, en: string, most: number) {
  return { ru: textOf(desk, ru, most), en: textOf(desk, en, most) }
}

function textOf(desk: Desk, name: string, most: number): string {
  const text = (desk.text(name) ?? '').trim()
  const option = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  if (text === '' || text.length > most) {
    throw usageError(`--${option} has 1 to ${most} characters`)
  }
  if (/\S[@＠]\S/.test(text)) throw usageError(`--${option} is public: it may name no address`)
  // The feed is XML, which cannot contain them.
  if (/\p{Cc}|\p{Cs}/u.test(text)) throw usageError(`--${option} has a control character`)
  return text
}
