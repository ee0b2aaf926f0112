// Requests among the entries, with the figures that are added up: one text for the job that adds
// and for the readers of entries after the mark, so that both count alike.
import type { BookId } from '../../platform/ids.ts'

/** Entries after a number, on these UTC days, in a range of times (`to` is exclusive). */
export type EntryRange = {
  readonly book: BookId
  readonly afterSeq: bigint
  readonly dayMin: string
  readonly dayMax: string
  readonly from: Date
  readonly to: Date
}

/** Of a row `e` of entries and its tariff `t`. */
export const REQUEST_COLUMNS = `
  e.book_id, e.seq, e.at, e.day, e.ending, t.model, e.session_id, e.agent_id, e.parent_agent_id,
  e.label, e.kind = 'void' as is_free, e.kind = 'void' and e.ending <> 'given_up' as is_error,
  coalesce(e.input, 0) as input, coalesce(e.output, 0) as output,
  coalesce(e.cache_read, 0) as cache_read, coalesce(e.cache_write_5m, 0) as cache_write_5m,
  coalesce(e.cache_write_1h, 0) as cache_write_1h, -e.amount as spent,
  usage_cache_saved(e.parts, t, e.cache_read, e.cache_write_5m, e.cache_write_1h) as cache_saved,
  usage_latency_step(e.first_byte_ms) as first_byte, usage_latency_step(e.total_ms) as total,
  coalesce(e.total_ms, 0) as busy_ms`

/** The requests of an EntryRange, whose members are six parameters from this number on. */
export function requestsSql(first: number): string {
  const [book, seq, dayMin, dayMax, from, to] = [0, 1, 2, 3, 4, 5].map((i) => `$${first + i}`)
  return `select ${REQUEST_COLUMNS}
    from entries e join tariffs t on t.id = e.tariff
    where e.book_id = ${book} and e.seq > ${seq} and e.day >= ${dayMin}::date
      and e.day <= ${dayMax}::date and e.kind in ('charge', 'void')
      and e.at >= ${from} and e.at < ${to}`
}

/** The six parameters of requestsSql. */
export function entryValues(p: EntryRange): unknown[] {
  return [p.book, p.afterSeq, p.dayMin, p.dayMax, p.from, p.to]
}
