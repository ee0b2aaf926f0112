// Packs: the credits that a customer can buy, with their price. Reads and writes the packs of the
// catalogue file; the payments module stores who bought which pack.
import { z } from 'zod'
import { type Credits, credits, wholeCredits } from '../units/credits.ts'
import { type Kopecks, kopecks } from '../units/kopecks.ts'

/** The same text in both languages of the interface. */
export type Localized = { readonly ru: string; readonly en: string }

export type Pack = {
  readonly id: string
  readonly name: Localized
  readonly credits: Credits
  readonly priceKopecks: Kopecks
}

/** One line of printable text without spaces at its ends, for pages, e-mails and receipts. */
export const lineText = z
  .string()
  .regex(/^[^\s\p{Cc}\p{Cs}](?:[^\p{Cc}\p{Cs}]{0,98}[^\s\p{Cc}\p{Cs}])?$/u, {
    error: 'expected one line of 1-100 characters',
  })

/** One text for both languages, or one for each. */
export const localizedText = z
  .union([lineText, z.strictObject({ ru: lineText, en: lineText })], {
    error: 'expected one line of 1-100 characters, or { ru: …, en: … } with one each',
  })
  .transform((text): Localized => (typeof text === 'string' ? { ru: text, en: text } : text))

/** The shortest text that reads back as the same. */
export function localizedFields({ ru, en }: Localized): string | Localized {
  return ru === en ? en : { ru, en }
}

/** A whole number, read from text so that no digit is lost in a float. */
export function wholeText(min: bigint, max: bigint) {
  return z.string().transform((text, context) => {
    const value = /^(?:0|[1-9]\d{0,18})$/.test(text) ? BigInt(text) : undefined
    if (value !== undefined && value >= min && value <= max) return value
    context.addIssue({ code: 'custom', message: `expected a whole number, ${min} to ${max}` })
    return z.NEVER
  })
}

// 10^12 credits are 10^18 microcredits; an int8 column stores up to 9.2 × 10^18.
const CREDITS_WHOLE_MAX = 1_000_000_000_000n
// A hundred million rubles: a higher price is a typing mistake.
const KOPECKS_MAX = 10_000_000_000n

export const packSchema = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'expected 1-64 of a-z, 0-9 and dashes'),
    name: localizedText,
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

/** The fields of a pack in the catalogue file. */
export function packFields(pack: Pack) {
  return {
    id: pack.id,
    name: localizedFields(pack.name),
    credits: wholeCredits(pack.credits).toString(),
    priceKopecks: pack.priceKopecks.toString(),
  }
}
