// Searches for a person: every column of every table of every schema, every file below a folder,
// and given texts, in every encoding and any case. Tables, columns and files are listed by the
// search itself, so a new one is searched without a change here.
import type { Db } from '../../../src/platform/db/db.ts'
import { databasePlaces, filePlaces, type Place } from '../leaks/leaks.ts'

export type Found = { readonly place: string; readonly what: string; readonly around: string }

/** Encodings whose letters have a case of their own. */
function exactFormsOf(text: string): string[] {
  return [text, text.toLowerCase(), text.toUpperCase()].flatMap((one) =>
    [0, 1, 2].flatMap((shift) => {
      const padded = Buffer.concat([Buffer.alloc(shift), Buffer.from(one)])
      const from = shift === 0 ? 0 : 4
      const until = Math.floor(padded.length / 3) * 4
      return [padded.toString('base64'), padded.toString('base64url')].map((form) =>
        form.slice(from, until),
      )
    }),
  )
}

/** Encodings that are compared in lower case: plain, JSON, percent, hexadecimal, HTML. */
function lowerFormsOf(text: string): string[] {
  const lower = text.toLowerCase()
  const everyByte = [...Buffer.from(lower)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
  const forms = [lower, JSON.stringify(lower).slice(1, -1), encodeURIComponent(lower).toLowerCase()]
  const hex = [lower, text, text.toUpperCase()].map((one) => Buffer.from(one).toString('hex'))
  return [...forms, ...hex, everyByte.join(''), lower.replace('@', '&#64;')]
}

export function findPerson(places: readonly Place[], words: readonly string[]): Found[] {
  const forms = words.map((what) => ({
    what,
    lower: [...new Set(lowerFormsOf(what))],
    exact: [...new Set(exactFormsOf(what))].filter((form) => form.length >= 8),
  }))
  return places.flatMap(({ name, text }) => {
    const lowerText = text.toLowerCase()
    return forms.flatMap(({ what, lower, exact }) => {
      const inLower = lower.map((form) => lowerText.indexOf(form)).find((at) => at >= 0)
      const at = inLower ?? exact.map((form) => text.indexOf(form)).find((one) => one >= 0)
      if (at === undefined) return []
      return [{ place: name, what, around: text.slice(Math.max(0, at - 60), at + 60) }]
    })
  })
}

/** The database, the files below the folders, and the given texts. */
export async function allPlaces(
  db: Db,
  folders: readonly string[],
  texts: readonly Place[],
): Promise<Place[]> {
  const files = await Promise.all(folders.map(filePlaces))
  return [...(await databasePlaces(db)), ...files.flat(), ...texts]
}
