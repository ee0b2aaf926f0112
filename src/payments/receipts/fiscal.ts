// What a payer sees of a receipt: its numbers, the text of its QR code, and the link under which
// the fiscal data operator or the tax service shows it.
import { createLocalTime } from '../../platform/local-time.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { ReceiptKind } from '../port.ts'
import type { Receipt } from './queries.ts'

export type ReceiptView = {
  readonly id: string
  readonly kind: ReceiptKind
  readonly order: string
  readonly refund: string | null
  readonly amountKopecks: Kopecks
  /** `waiting` is also one that failed and is posted again; `separate`: a person made it. */
  readonly state: 'waiting' | 'registered' | 'separate'
  readonly periodFrom: Date | null
  readonly periodUntil: Date | null
  readonly createdAt: Date
  /** Null until it is registered. */
  readonly fiscal: {
    readonly document: string
    readonly storage: string
    readonly sign: string
    readonly registeredAt: Date
    /** What the QR code of a printed receipt says. */
    readonly qr: string
    /** Null when the seller has set none. */
    readonly url: string | null
  } | null
}

/** Of an income, and of its return. */
const OPERATION = { prepayment: 1, completion: 1, return: 2 } as const

export function createReceiptViews(p: {
  /** The time of a receipt is that of the cash register, which is the seller's. */
  readonly timeZone: string
  /** With {t}, {s}, {fn}, {i}, {fp} and {n}, as in the QR code; `none`: there is no link. */
  readonly url: string
}) {
  const localTime = createLocalTime(p.timeZone)

  function valuesOf(receipt: Receipt, at: Date): Readonly<Record<string, string>> {
    // 20261118T2040
    const t = localTime(at).slice(0, 16).replaceAll(/[-:]/g, '')
    return {
      ...{ t, s: rublesText(receipt.amount), fn: receipt.storage ?? '' },
      ...{ i: receipt.document ?? '', fp: receipt.sign ?? '', n: `${OPERATION[receipt.kind]}` },
    }
  }

  function fiscalOf(receipt: Receipt): ReceiptView['fiscal'] {
    const { state, document, storage, sign, registeredAt } = receipt
    if (state !== 'registered' || !document || !storage || !sign || !registeredAt) return null
    const values = valuesOf(receipt, registeredAt)
    const qr = Object.entries(values).map(([name, value]) => `${name}=${value}`)
    const filled = p.url.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(values[name] ?? ''),
    )
    const url = p.url === 'none' ? null : filled
    return { document, storage, sign, registeredAt, qr: qr.join('&'), url }
  }

  return (receipt: Receipt): ReceiptView => ({
    ...{ id: receipt.id, kind: receipt.kind, order: receipt.order, refund: receipt.refund },
    amountKopecks: receipt.amount,
    state: stateOf(receipt),
    ...{ periodFrom: receipt.periodFrom, periodUntil: receipt.periodUntil },
    createdAt: receipt.createdAt,
    fiscal: fiscalOf(receipt),
  })
}

function stateOf({ state }: Receipt): ReceiptView['state'] {
  if (state === 'dismissed') return 'separate'
  return state === 'registered' ? 'registered' : 'waiting'
}
