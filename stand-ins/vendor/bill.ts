// What the stand-in bills: its own count of what it read and generated, kept by day and served as
// the vendor's usage report. A stream is billed as far as it was generated, also when its client
// left or a fault cut it. Faults that change what a reply reports do not change the bill, except
// `usage-members`, which describes the reply.
import type { Faults } from './faults.ts'
import { isObject } from './json.ts'
import type { Received } from './record.ts'
import type { StreamEvent } from './stream.ts'
import type { BillRow, Usage } from './usage.ts'

type Rate = Pick<
  BillRow,
  'day' | 'model' | 'service_tier' | 'context_window' | 'inference_geo' | 'speed'
>
const rateMembers = [
  'day',
  'model',
  'service_tier',
  'context_window',
  'inference_geo',
  'speed',
] as const
const counters = [
  'uncached_input_tokens',
  'cache_read_input_tokens',
  'ephemeral_5m_input_tokens',
  'ephemeral_1h_input_tokens',
  'output_tokens',
] as const
type Counts = Partial<Record<(typeof counters)[number], number>> & {
  readonly server_tool_use?: Readonly<Record<string, number>>
}

/** The vendor reports longer prompts apart. */
const shortWindowTokens = 200_000

export function createBill() {
  const rows = new Map<string, BillRow>()

  function addTo(list: Map<string, BillRow>, rate: Rate, counts: Counts): void {
    const key = JSON.stringify(rateMembers.map((member) => rate[member]))
    const row: BillRow = list.get(key) ?? {
      ...rate,
      uncached_input_tokens: 0,
      cache_read_input_tokens: 0,
      ephemeral_5m_input_tokens: 0,
      ephemeral_1h_input_tokens: 0,
      output_tokens: 0,
      server_tool_use: {},
    }
    for (const counter of counters) row[counter] += counts[counter] ?? 0
    for (const [name, count] of Object.entries(counts.server_tool_use ?? {})) {
      row.server_tool_use[name] = (row.server_tool_use[name] ?? 0) + count
    }
    list.set(key, row)
  }

  return {
    /** Opens the bill of one request; each amount is added when it is generated. */
    open(received: Received, { model, usage }: { model: string; usage: Usage }, faults: Faults) {
      const all: Readonly<Record<string, unknown>> = { ...usage, ...faults['usage-members'] }
      const own = new Map<string, BillRow>()
      const add = (name: string, counts: Counts) => {
        const rate = { ...rateOf(all, usage), model: name }
        addTo(rows, rate, counts)
        addTo(own, rate, counts)
        received.billed = [...own.values()]
      }
      const passes = (Array.isArray(all.iterations) ? all.iterations : []).filter(isObject)
      const fallback = passes.findLast(({ type }) => type === 'fallback_message')
      const answering = String(fallback?.model ?? model)
      let written = 0

      const bill = {
        input: () => add(answering, inputOf(usage)),
        /** So many output tokens exist by now. */
        output(count: number) {
          const most = Math.min(count, usage.output_tokens)
          add(answering, { output_tokens: most - written })
          written = most
        },
        /** The reply is complete. */
        end() {
          bill.output(usage.output_tokens)
          add(answering, { server_tool_use: countsIn(all.server_tool_use) })
          for (const pass of passes) {
            if (pass.type === 'message' || pass.type === 'fallback_message') continue
            const counts = { ...inputOf(pass), output_tokens: numberOf(pass.output_tokens) }
            add(String(pass.model ?? model), counts)
          }
        },
        *events(events: Iterable<StreamEvent>): Generator<StreamEvent> {
          let deltas = 0
          for (const event of events) {
            if (event.type === 'message_start') bill.input()
            if (event.type === 'content_block_delta') {
              deltas += 1
              bill.output(deltas)
            }
            if (event.type === 'message_delta') bill.end()
            yield event
          }
        },
      }
      return bill
    },

    /** Plants a difference: bills what no request used. */
    plant(row: Pick<BillRow, 'day' | 'model'> & Partial<Omit<BillRow, 'day' | 'model'>>): void {
      const rate = { ...rateOf({}, {}), ...row }
      addTo(rows, rate, row)
    },

    rows: (): readonly BillRow[] => [...rows.values()],

    /** A page of the vendor's usage report; days without usage have an empty list. */
    report(query: URLSearchParams): object {
      const days = daysOf(query)
      const size = Math.min(Number(query.get('limit') ?? 7), 31)
      const first = Number(query.get('page')?.replace('page_', '') ?? 0)
      const groups = new Set(query.getAll('group_by[]'))
      const shown = days.slice(first, first + size)
      const hasMore = first + size < days.length
      return {
        data: shown.map((day) => ({
          starting_at: `${day}T00:00:00Z`,
          ending_at: `${nextDay(day)}T00:00:00Z`,
          results: resultsOf([...rows.values()], day, groups),
        })),
        has_more: hasMore,
        next_page: hasMore ? `page_${first + size}` : null,
      }
    },
  }

  function resultsOf(all: readonly BillRow[], day: string, groups: ReadonlySet<string>): object[] {
    const grouped = new Map<string, BillRow>()
    for (const row of all.filter((one) => one.day === day)) {
      const kept = rateMembers.map((member) => [
        member,
        member === 'day' || groups.has(member) ? row[member] : null,
      ])
      addTo(grouped, Object.fromEntries(kept) as Rate, row)
    }
    return [...grouped.values()].map(
      ({ day: _, ephemeral_5m_input_tokens, ephemeral_1h_input_tokens, ...row }) => ({
        ...row,
        account_id: null,
        api_key_id: null,
        workspace_id: null,
        cache_creation: { ephemeral_1h_input_tokens, ephemeral_5m_input_tokens },
        server_tool_use: { web_search_requests: 0, ...row.server_tool_use },
      }),
    )
  }
}

export type Bill = ReturnType<typeof createBill>

function rateOf(
  all: Readonly<Record<string, unknown>>,
  usage: Partial<Usage>,
): Omit<Rate, 'model'> {
  const {
    input_tokens: uncached = 0,
    cache_read_input_tokens: read = 0,
    cache_creation_input_tokens: written = 0,
  } = usage
  return {
    day: new Date().toISOString().slice(0, 10),
    service_tier: String(all.service_tier ?? 'standard'),
    inference_geo: String(all.inference_geo ?? 'not_available'),
    speed: String(all.speed ?? 'standard'),
    context_window: uncached + read + written > shortWindowTokens ? '200k-1M' : '0-200k',
  }
}

function inputOf(usage: object): Counts {
  const all: Readonly<Record<string, unknown>> = { ...usage }
  const split: Readonly<Record<string, unknown>> = { ...Object(all.cache_creation) }
  const writtenFor1h = numberOf(split.ephemeral_1h_input_tokens)
  return {
    uncached_input_tokens: numberOf(all.input_tokens),
    cache_read_input_tokens: numberOf(all.cache_read_input_tokens),
    ephemeral_5m_input_tokens: numberOf(all.cache_creation_input_tokens) - writtenFor1h,
    ephemeral_1h_input_tokens: writtenFor1h,
  }
}

function countsIn(uses: unknown): Record<string, number> {
  return Object.fromEntries(
    Object.entries(Object(uses)).map(([name, count]) => [name, numberOf(count)]),
  )
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

const dayMs = 86_400_000

/** Whole days from `starting_at` to `ending_at`, which is not included. */
function daysOf(query: URLSearchParams): string[] {
  const fromMs = Date.parse(query.get('starting_at') ?? '')
  const toMs = Date.parse(query.get('ending_at') ?? new Date().toISOString())
  const count = Math.max(0, Math.ceil((toMs - fromMs) / dayMs))
  return Array.from({ length: count || 0 }, (_, i) =>
    new Date(fromMs + i * dayMs).toISOString().slice(0, 10),
  )
}

function nextDay(day: string): string {
  return new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10)
}
