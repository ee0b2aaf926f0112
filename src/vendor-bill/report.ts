// Reads the vendor's usage report: the JSON of its reporting API, or the CSV that its console
// exports. A row has what the vendor bills for a day, a model, and the values that multiply its
// prices. What a report counts besides tokens and tools that we know is kept under its own name, so
// that nothing new is overlooked.
import { z } from 'zod'
import { dayText } from '../platform/clock.ts'
import type { DimensionValues } from '../pricing/pricing.ts'
import { csvRecords } from './csv.ts'

export type BilledRow = {
  /** `2026-11-15`, in UTC. */
  readonly day: string
  /** The vendor's name of the model. */
  readonly model: string
  readonly values: DimensionValues
  /** By what is billed: `input`, `cache read`, `web_search use`. */
  readonly amounts: ReadonlyMap<string, bigint>
}

export type ReadReport =
  | {
      readonly rows: readonly BilledRow[]
      /** Also those without rows: the vendor billed nothing. */
      readonly days: readonly string[]
    }
  | { readonly problems: readonly string[] }

/** A year of days with a hundred rows each is 10 MiB. */
const REPORT_CHARS_MAX = 64 * 1024 * 1024
/** A file with more problems than this is not a report. */
const PROBLEMS_MAX = 10

const count = z.int().min(0)
const text = z.string().nullish()
const page = z.looseObject({
  data: z.array(
    z.looseObject({
      starting_at: z.iso.datetime({ offset: true }),
      ending_at: z.iso.datetime({ offset: true }),
      results: z.array(
        z.looseObject({
          model: text,
          service_tier: text,
          inference_geo: text,
          speed: text,
          uncached_input_tokens: count,
          cache_read_input_tokens: count,
          cache_creation: z.looseObject({
            ephemeral_5m_input_tokens: count,
            ephemeral_1h_input_tokens: count,
          }),
          output_tokens: count,
          server_tool_use: z.record(z.string(), count).nullish(),
        }),
      ),
    }),
  ),
  has_more: z.boolean(),
  next_page: text,
})
type Page = z.output<typeof page>
type Result = Page['data'][number]['results'][number]

const DAY_MS = 86_400_000

/** A page, a list of pages, or CSV. */
export function readReport(report: string): ReadReport {
  if (report.length > REPORT_CHARS_MAX) return { problems: ['the report is longer than 64 MiB'] }
  if (!/^\s*[[{]/.test(report)) return readCsv(report)
  const parsed = z.array(page).safeParse(pagesOf(report))
  if (!parsed.success) {
    return { problems: parsed.error.issues.slice(0, PROBLEMS_MAX).map(sentenceOf) }
  }
  if (parsed.data.at(-1)?.has_more) {
    return { problems: ['the report has more pages: give all of them, as a JSON array'] }
  }
  const buckets = parsed.data.flatMap(({ data }) => data)
  const wrong = buckets.find(({ starting_at: from, ending_at: to }) => !isDay(from, to))
  if (wrong !== undefined) {
    return { problems: [`${wrong.starting_at}: expected buckets of one day, bucket_width=1d`] }
  }
  const unnamed = buckets.find(({ results }) => results.some(({ model }) => !model))
  if (unnamed !== undefined) {
    return { problems: [`${unnamed.starting_at}: expected rows by model, group_by[]=model`] }
  }
  const days = buckets.map(({ starting_at: from }) => dayText(Date.parse(from)))
  const rows = buckets.flatMap(({ results }, i) =>
    results.map((result) => rowOf(days[i] ?? '', result)),
  )
  return { rows, days }
}

/** Undefined when it is not JSON. */
function pagesOf(report: string): unknown {
  try {
    const json: unknown = JSON.parse(report)
    return Array.isArray(json) ? json : [json]
  } catch {
    return undefined
  }
}

function sentenceOf({ path, message }: { path: PropertyKey[]; message: string }): string {
  return `${path.join('.') || 'the report'}: ${message}`
}

function isDay(from: string, to: string): boolean {
  const fromMs = Date.parse(from)
  return fromMs % DAY_MS === 0 && Date.parse(to) - fromMs === DAY_MS
}

function rowOf(day: string, result: Result): BilledRow {
  const { cache_creation: written, server_tool_use: uses } = result
  const amounts = new Map([
    ['input', BigInt(result.uncached_input_tokens)],
    ['cache read', BigInt(result.cache_read_input_tokens)],
    ['cache write 5m', BigInt(written.ephemeral_5m_input_tokens)],
    ['cache write 1h', BigInt(written.ephemeral_1h_input_tokens)],
    ['output', BigInt(result.output_tokens)],
  ])
  const add = (name: string, amount: bigint) =>
    amounts.set(name, (amounts.get(name) ?? 0n) + amount)
  for (const [name, used] of Object.entries(uses ?? {})) add(toolUseOf(name), BigInt(used))
  const { cache_creation: _, server_tool_use: __, ...own } = result
  for (const [name, value] of [...others(own), ...others(written)]) add(name, value)
  return { day, model: result.model ?? '', values: valuesOf(result), amounts }
}

/** `web_search_requests` is the vendor's name of `web_search use`. */
function toolUseOf(name: string): string {
  return name.endsWith('_requests') ? `${name.slice(0, -'_requests'.length)} use` : name
}

const KNOWN = new Set([
  'uncached_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
  'ephemeral_5m_input_tokens',
  'ephemeral_1h_input_tokens',
])

/**
 * Counters that no version of the vendor's documentation had when this was written, also in members
 * of members. Parts are rounded up and a negative one counts by its size: each has to differ.
 */
function others(object: object): [string, bigint][] {
  return Object.entries(object).flatMap(([name, value]): [string, bigint][] => {
    if (typeof value === 'object' && value !== null) {
      return others(value).map(([inner, amount]) => [`${name}.${inner}`, amount])
    }
    if (typeof value !== 'number' || value === 0 || KNOWN.has(name)) return []
    return [[name, BigInt(Math.ceil(Math.abs(value)))]]
  })
}

function valuesOf(row: Readonly<Record<string, unknown>>): DimensionValues {
  const given = (['speed', 'inference_geo', 'service_tier'] as const).flatMap((dimension) => {
    const value = row[dimension]
    return typeof value === 'string' && value !== '' ? [[dimension, value]] : []
  })
  return Object.fromEntries(given)
}

/** Columns of the console's export, and what they count. */
const CSV_AMOUNTS = [
  ['usage_input_tokens_no_cache', 'input'],
  ['usage_input_tokens_cache_read', 'cache read'],
  ['usage_input_tokens_cache_write_5m', 'cache write 5m'],
  ['usage_input_tokens_cache_write_1h', 'cache write 1h'],
  ['usage_output_tokens', 'output'],
] as const
const CSV_SEARCHES = 'web_search_count'
/** Names of columns that count something, among those that no export had when this was written. */
const CSV_COUNTER = /^usage_.*_tokens|_(?:count|requests|uses|hours|seconds)$/

function readCsv(report: string): ReadReport {
  const { columns, records } = csvRecords(report)
  const needed = ['usage_date_utc', 'model_version', ...CSV_AMOUNTS.map(([name]) => name)]
  const missing = needed.filter((name) => !columns.includes(name))
  if (missing.length > 0) return { problems: missing.map((name) => `there is no column ${name}`) }
  const problems: string[] = []
  const rows = records.map((record, i): BilledRow => {
    const day = (record.usage_date_utc ?? '').slice(0, 10)
    if (!/^\d{4}-\d\d-\d\d$/.test(day)) problems.push(`line ${i + 2}: ${day} is not a day`)
    const unknown = columns.filter(
      (name) => CSV_COUNTER.test(name) && name !== CSV_SEARCHES && !needed.includes(name),
    )
    const counted = [
      ...CSV_AMOUNTS,
      ...(columns.includes(CSV_SEARCHES) ? [[CSV_SEARCHES, 'web_search use'] as const] : []),
      ...unknown.map((name) => [name, name.replace(/_(?:count|requests)$/, ' use')] as const),
    ]
    const amounts = counted.map(([name, what]) => {
      const cell = record[name] ?? ''
      if (!/^\d{0,15}$/.test(cell)) problems.push(`line ${i + 2}, ${name}: ${cell} is not a count`)
      return [what, /^\d{1,15}$/.test(cell) ? BigInt(cell) : 0n] as const
    })
    const values = valuesOf({ ...record, service_tier: record.usage_type })
    return { day, model: record.model_version ?? '', values, amounts: new Map(amounts) }
  })
  if (problems.length > 0) return { problems: problems.slice(0, PROBLEMS_MAX) }
  return { rows, days: rows.map(({ day }) => day) }
}
