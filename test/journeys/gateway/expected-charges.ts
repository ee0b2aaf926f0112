// The customer's own arithmetic: the price of a reply by the published rules, computed only from
// the bytes a client or the upstream saw, without product code. Also formats a statement as a small
// table.
import type { Entry, PaidEnding } from '../../../src/ledger/ledger.ts'

/** The members of the wire's usage object that cost something. */
export type ReportedUsage = {
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly cache_read_input_tokens?: number
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens: number
    readonly ephemeral_1h_input_tokens: number
  }
}

/** In microcredits, at the prices of the example catalogue: 1, 5, 0.1, 1.25 and 2 a token. */
export function priceOf(usage: ReportedUsage): bigint {
  const { ephemeral_5m_input_tokens: short = 0, ephemeral_1h_input_tokens: long = 0 } =
    usage.cache_creation ?? {}
  return (
    BigInt(usage.input_tokens ?? 0) * 1_000_000n +
    BigInt(usage.output_tokens ?? 0) * 5_000_000n +
    BigInt(usage.cache_read_input_tokens ?? 0) * 100_000n +
    BigInt(short) * 1_250_000n +
    BigInt(long) * 2_000_000n
  )
}

export type SeenEvent = {
  readonly type: string
  readonly message?: { readonly usage?: ReportedUsage }
  readonly delta?: Readonly<Record<string, unknown>>
  readonly usage?: ReportedUsage
}

/** The data of every whole record. */
export function eventsOf(bytes: Buffer): SeenEvent[] {
  return bytes
    .toString()
    .split(/\r?\n\r?\n/)
    .slice(0, -1)
    .flatMap((record) => record.split(/\r?\n/).filter((line) => line.startsWith('data:')))
    .map((line) => JSON.parse(line.slice('data:'.length)))
}

/** The published rule: ⌈ASCII bytes / 4 + other bytes / 3⌉ over what the deltas carry. */
export function estimatedOutput(events: readonly SeenEvent[]): number {
  let ascii = 0
  let other = 0
  for (const { delta = {} } of events) {
    for (const name of ['text', 'thinking', 'partial_json', 'signature']) {
      const payload = delta[name]
      if (typeof payload !== 'string') continue
      const bytes = Buffer.byteLength(payload)
      const plain = [...Buffer.from(payload)].filter((byte) => byte < 0x80).length
      ascii += plain
      other += bytes - plain
    }
  }
  return Math.ceil(ascii / 4 + other / 3)
}

/**
 * What a client that disconnected owes for what it was sent: the final counters, or the rule above.
 */
export function priceAfterDisconnect(events: readonly SeenEvent[]): bigint {
  const start = events.find((event) => event.type === 'message_start')?.message?.usage ?? {}
  const end = events.findLast((event) => event.delta?.stop_reason != null)
  if (end !== undefined) return priceOf({ ...start, ...end.usage })
  return priceOf({ ...start, output_tokens: estimatedOutput(events) })
}

/** Exact decimal text of microcredits. */
export function text(micro: bigint): string {
  const size = micro < 0n ? -micro : micro
  const fraction = String(size % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${micro < 0n ? '-' : ''}${size / 1_000_000n}${fraction === '' ? '' : `.${fraction}`}`
}

/** One line per entry: kind, ending, amount in credits, and its notes. */
export function tableOf(entries: readonly Entry[]): string[] {
  return entries.map(({ kind, ending, amount, note, isEstimated, writtenOff }) =>
    [
      kind,
      ending,
      text(amount),
      isEstimated ? 'estimated' : '',
      (writtenOff ?? 0n) > 0n ? `written off ${text(writtenOff ?? 0n)}` : '',
      note,
    ]
      .filter((part) => part !== null && part !== '')
      .join(' '),
  )
}

/** The line of a charge in the table. */
export function chargeLine(ending: PaidEnding, price: bigint, more = ''): string {
  return `charge ${ending} ${price === 0n ? '0' : text(-price)}${more === '' ? '' : ` ${more}`}`
}
