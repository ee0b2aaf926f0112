// A secret and its successor, side by side in one setting: `2:new,1:old`. The first of the list
// signs and encrypts what is new (it *makes*), and all are accepted, so that processes that are
// restarted one after the other understand each other. A text without an id is the secret 1. A
// secret that stands alone with its id ends in a comma, `2:new,`: without it, `12:30 in May` would
// be read as the secret 12.
import { Masked } from './masked.ts'

export type SecretVersion = { readonly id: number; readonly secret: Masked<string> }
/** The first makes; all are accepted. */
export type SecretVersions = readonly [SecretVersion, ...SecretVersion[]]

/** The id of a secret that was given without one, and of what was made before there were ids. */
export const FIRST_SECRET_ID = 1
/** Each costs one HMAC per made-up key. A succession needs two secrets; the next one, three. */
const VERSIONS_MAX = 4
/** At most 999: the ids are small numbers that people compare. */
const ID = /^([1-9]\d{0,2}):/
/** A comma or a line break before an id. A secret may contain other commas. */
const SEPARATOR = /\s*[,\n]\s*(?=[1-9]\d{0,2}:)/
const END = /,\s*$/
/** An id within a secret: another separator, or the secret before it has no id. */
const MISPLACED_ID = /[\s,;][1-9]\d{0,2}:/
const NEEDS_ID = 'is not a list of secrets: each needs its id, as in 1:old,2:new'

/** Call it only for a `text` in which secretVersionsProblem finds nothing. */
export function secretVersionsOf(text: Masked<string>): SecretVersions {
  return split(text.reveal()).map(({ id, value }) => ({
    id,
    secret: new Masked(value),
  })) as unknown as SecretVersions
}

/** Why the text is neither a secret nor a list of them; never quotes it. */
export function secretVersionsProblem(text: string): string | undefined {
  const found = split(text)
  if (found.some(({ value }) => value === '')) return 'has an id without a secret'
  // Taken for one long secret, such a text would refuse every key and end every session.
  if (found.some(({ value }) => MISPLACED_ID.test(value))) return NEEDS_ID
  const [{ id, value } = { id: 0, value: '' }, ...others] = found
  if (others.length === 0 && id !== FIRST_SECRET_ID && value.includes(',')) return NEEDS_ID
  if (others.length === 0 && ID.test(text) && !END.test(text)) return ALONE
  if (found.length > VERSIONS_MAX) return `has more than ${VERSIONS_MAX} secrets`
  const isTwice = (values: readonly unknown[]) => new Set(values).size < values.length
  if (isTwice(found.map(({ id }) => id))) return 'has an id twice: a new secret needs a new id'
  if (isTwice(found.map(({ value }) => value))) return 'has a secret twice'
  return undefined
}

const ALONE =
  'begins with a number and a colon and stands alone: if the number is its id, add a comma at ' +
  'the end; if the whole text is the secret, add 1: before it and a comma at the end'

/**
 * The secret with the lowest id, which the processes of two neighbouring steps share while both are
 * accepted: for short-lived digests that all processes must make alike.
 */
export function oldestOf(versions: SecretVersions): SecretVersion {
  return versions.reduce((oldest, one) => (one.id < oldest.id ? one : oldest))
}

/** `2 makes, 1 is accepted too`; undefined when there is one secret. */
export function describeVersions([first, ...others]: SecretVersions): string | undefined {
  if (others.length === 0) return undefined
  const ids = others.map(({ id }) => id).join(', ')
  return `${first.id} makes, ${ids} ${others.length === 1 ? 'is' : 'are'} accepted too`
}

function split(text: string): { readonly id: number; readonly value: string }[] {
  if (!ID.test(text)) return [{ id: FIRST_SECRET_ID, value: text }]
  return text
    .replace(END, '')
    .split(SEPARATOR)
    .map((part) => {
      const value = part.replace(ID, '')
      return { id: Number(ID.exec(part)?.[1]), value: value.trim() }
    })
}
