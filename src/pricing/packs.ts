// Packs: credits for kopecks, what a customer buys. Their part of the catalogue file, both ways;
// who bought which is the payments' affair.
import { z } from 'zod'
import { type Credits, credits, wholeCredits } from '../units/credits.ts'
import { type Kopecks, kopecks } from '../units/kopecks.ts'

export type Pack = {
  readonly id: string
  readonly name: string
  readonly credits: Credits
  readonly priceKopecks: Kopecks
}

/** One line of printable text, no spaces at its ends: it goes to pages, letters and receipts. */
export const lineText = z
  .string()
  .regex(/^[^\s\p{Cc}\p{Cs}](?:[^\p{Cc}\p{Cs}]{0,98}[^\s\p{Cc}\p{Cs}])?$/u, {
    error: 'expected one line of 1-100 characters',
  })

/** A whole number, read from text so that no float is between the file and the price. */
export function wholeText(min: bigint, max: bigint) {
  return z.string().transform((text, context) => {
    const value = /^(?:0|[1-9]\d{0,18})$/.test(text) ? BigInt(text) : undefined
    if (value !== undefined && value >= min && value <= max) return value
    context.addIssue({ code: 'custom', message: `expected a whole number, ${min} to ${max}` })
    return z.NEVER
  })
}

// A million times a million credits still fits an int8 of microcredits nine times over.
const CREDITS_WHOLE_MAX = 1_000_000_000_000n
// A hundred million rubles: beyond it is a slip of the hand, not a pack.
const KOPECKS_MAX = 10_000_000_000n

export const packSchema = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'expected 1-64 of a-z, 0-9 and dashes'),
    name: lineText,
    credits: wholeText(1n, CREDITS_WHOLE_MAX),
    priceKopecks: wholeText(1n, KOPECKS_MAX),
  })
  .transform(
    (pack): Pack => ({
      ...pack,
      credits: credits(pack.credits),
      priceKopecks: kopecks(pack.priceKopecks),
    }),
  )

/** The pack as the file writes it. */
export function packFields(pack: Pack) {
  return {
    id: pack.id,
    name: pack.name,
    credits: wholeCredits(pack.credits).toString(),
    priceKopecks: pack.priceKopecks.toString(),
  }
}
