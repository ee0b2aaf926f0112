// The accountant's months, as the console's pages get them. Amounts are whole numbers as text, in
// the smallest unit that `unit` names.
import type { FigureUnit, IntegerText, Kopecks, Time } from './contract.ts'

export type MonthSeal = {
  readonly sealedAt: Time
  readonly sealedBy: string
  /** SHA-256 of the sealed text; the act of the seal names it too. */
  readonly digest: string
}

export type MonthInList = {
  readonly month: string
  readonly isOver: boolean
  readonly seal: MonthSeal | null
  /** Later months that were sealed with corrections of this one. */
  readonly correctedIn: readonly string[]
}

/** Microcredits: opening + credited - used - refunded - disputed - adjusted = closing. */
export type CreditsMovement = {
  readonly opening: IntegerText
  readonly credited: IntegerText
  readonly used: IntegerText
  readonly refunded: IntegerText
  readonly disputed: IntegerText
  readonly adjusted: IntegerText
  readonly closing: IntegerText
}

/** opening + sold - revenue - returned - adjusted = closing. */
export type PackMovement = {
  readonly opening: Kopecks
  readonly sold: Kopecks
  readonly revenue: Kopecks
  readonly returned: Kopecks
  readonly adjusted: Kopecks
  readonly closing: Kopecks
}

export type CreditsKind = 'paid' | 'promo' | 'correction' | 'transfer' | 'debt'

export type LiabilityRow = {
  readonly kind: CreditsKind
  readonly pack: string | null
  readonly title: string | null
  readonly credits: CreditsMovement
  /** Null: these credits were not paid for. */
  readonly kopecks: PackMovement | null
}

/** One figure with a name that stays; `item` is empty for the whole. */
export type MonthLine = {
  readonly section: string
  readonly item: string
  readonly figure: string
  readonly unit: FigureUnit
  /** Null: not known. */
  readonly value: IntegerText | null
}

export type MonthChange = Omit<MonthLine, 'value'> & {
  /** The sealed month that it is about. */
  readonly about: string
  readonly before: IntegerText | null
  readonly now: IntegerText | null
}

export type Month = {
  readonly month: string
  readonly timeZone: string
  readonly isOver: boolean
  readonly seal: MonthSeal | null
  readonly liability: {
    readonly rows: readonly LiabilityRow[]
    readonly credits: CreditsMovement
    readonly kopecks: PackMovement
  }
  /** Every figure but the liability. */
  readonly lines: readonly MonthLine[]
  /** What became known in this month about months that were sealed before. */
  readonly corrections: readonly MonthChange[]
  /** What a new count of this sealed month finds; a later month reports it as corrections. */
  readonly differences: readonly MonthChange[]
  /** The same figures for a spreadsheet. */
  readonly csv: string
}
