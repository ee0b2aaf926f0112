// Times in a time zone with the offset from UTC: `2026-11-15T13:00:00.000+03:00`.
import { dateAt } from './clock.ts'

/** Zones change their offset only at full quarters of an hour, so one offset serves a quarter. */
const QUARTER_MS = 900_000
const MINUTE_MS = 60_000

export function createLocalTime(zone: string): (at: Date) => string {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  const known = { quarter: Number.NaN, offset: '', minutes: 0 }

  function findOffset(quarter: number): void {
    const name = format
      .formatToParts(dateAt(quarter * QUARTER_MS))
      .find(({ type }) => type === 'timeZoneName')?.value
    const [, sign = '+', hours = '00', minutes = '00'] =
      /^GMT([+-])(\d\d):(\d\d)/.exec(name ?? '') ?? []
    const size = Number(hours) * 60 + Number(minutes)
    const offset = `${sign}${hours}:${minutes}`
    Object.assign(known, { quarter, offset, minutes: sign === '-' ? -size : size })
  }

  return (at) => {
    const ms = at.getTime()
    const quarter = Math.floor(ms / QUARTER_MS)
    if (quarter !== known.quarter) findOffset(quarter)
    const local = dateAt(ms + known.minutes * MINUTE_MS).toISOString()
    return `${local.slice(0, -1)}${known.offset}`
  }
}
