// Lists: newest first, filtered, in pages. The cursor names the last object of the previous page,
// so objects that arrive meanwhile are neither repeated nor skipped.
import { invalid } from './errors.ts'

type Listed = { sim: { sequence: number } }
type Moments = { created_at: number; captured_at?: number | null }

export type Filters<Item> = Readonly<Record<string, (item: Item, value: string) => boolean>>

const comparisons = {
  gte: (moment: number, limit: number) => moment >= limit,
  gt: (moment: number, limit: number) => moment > limit,
  lte: (moment: number, limit: number) => moment <= limit,
  lt: (moment: number, limit: number) => moment < limit,
} as const

const limits = { default: 10, max: 100 } as const

type Options<Item> = {
  query: URLSearchParams
  /** Oldest first. */
  items: readonly Item[]
  filters: Filters<Item>
  /** Whether the provider still lists the item. */
  isKept: (item: Item) => boolean
  moments: (item: Item) => Moments
  shown: (item: Item) => object
}

export function list<Item extends Listed>(options: Options<Item>): object {
  const { query, items, isKept, shown } = options
  const filters = [...query].filter(([name]) => name !== 'limit' && name !== 'cursor')
  const checks = [isKept, ...filters.map(([name, value]) => checkOf(name, value, options))]
  const limit = readLimit(query.get('limit'))
  const found: Item[] = []
  let at = startAt(items, query.get('cursor')) - 1
  for (; at >= 0 && found.length <= limit; at -= 1) {
    const item = items[at]
    if (item !== undefined && checks.every((check) => check(item))) found.push(item)
  }
  // One more than a page was read: it shows whether there is a next page.
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    type: 'list',
    items: page.map(shown),
    ...(found.length > limit && last !== undefined
      ? { next_cursor: Buffer.from(`after ${last.sim.sequence}`).toString('base64url') }
      : {}),
  }
}

function checkOf<Item>(
  name: string,
  value: string,
  { filters, moments }: Options<Item>,
): (item: Item) => boolean {
  const filter = Object.hasOwn(filters, name) ? filters[name] : undefined
  if (filter !== undefined) return (item) => filter(item, value)
  const [member = '', word = ''] = name.split('.')
  if (!(word in comparisons)) throw invalid(name, 'Unknown parameter')
  // Safe: the line above found the word in the table.
  const compare = comparisons[word as keyof typeof comparisons]
  if (member !== 'created_at' && member !== 'captured_at') throw invalid(name, 'Unknown parameter')
  const limitMs = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(limitMs)) throw invalid(name, 'Not a moment in ISO 8601')
  return (item) => {
    const moment = moments(item)[member]
    return moment !== undefined && moment !== null && compare(moment, limitMs)
  }
}

function readLimit(given: string | null): number {
  if (given === null) return limits.default
  const limit = /^\d{1,3}$/.test(given) ? Number(given) : 0
  if (limit < 1 || limit > limits.max) throw invalid('limit', `1 to ${limits.max}`)
  return limit
}

/** The index below which the page begins: a binary search, since sequences only grow. */
function startAt(items: readonly Listed[], cursor: string | null): number {
  if (cursor === null) return items.length
  const found = /^after (\d+)$/.exec(Buffer.from(cursor, 'base64url').toString())
  if (found === null) throw invalid('cursor', 'Unknown cursor')
  const sequence = Number(found[1])
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((items[middle]?.sim.sequence ?? 0) < sequence) low = middle + 1
    else high = middle
  }
  return low
}
