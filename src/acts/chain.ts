// The chain of acts, computed without the functions of the database: a person with the owner's
// password could replace those. sql/acts.sql builds the same text and the same digest.
import { createHash } from 'node:crypto'

export type Outcome = 'begun' | 'done' | 'asked' | 'refused' | 'failed'

export type ChainedAct = {
  /** Its place in the chain, from 1 on, without gaps. */
  readonly number: bigint
  readonly id: bigint
  readonly of: bigint | null
  /** As 2026-11-15T07:51:31.000000Z. */
  readonly at: string
  readonly by: string
  readonly osUser: string
  readonly command: string
  readonly outcome: Outcome
  readonly detail: string
  readonly digest: Buffer
}

/** An act by its place, and the digest that covers it and all acts before it. */
export type Mark = { readonly number: bigint; readonly digest: Buffer }

/** Before the first act. */
export const START: Mark = { number: 0n, digest: Buffer.alloc(0) }

/** What the digest covers: one line of JSON, with its members in this order. */
export function textOf(act: ChainedAct): string {
  const { number, id, of, at, by, osUser, command, outcome, detail } = act
  const json = JSON.stringify
  return (
    `{"number":${number},"id":${id},"of":${of},"at":${json(at)},"by":${json(by)},` +
    `"osUser":${json(osUser)},"command":${json(command)},"outcome":${json(outcome)},` +
    `"detail":${json(detail)}}`
  )
}

export function digestOf(before: Buffer, act: ChainedAct): Buffer {
  return createHash('sha256').update(before).update(textOf(act)).digest()
}

/** The line of a copy. */
export function lineOf(act: ChainedAct): string {
  return `{"act":${textOf(act)},"digest":"${act.digest.toString('hex')}"}`
}

/** The mark of a copy's line; undefined for a line that was not written whole. */
export function markOf(line: string): Mark | undefined {
  try {
    const { act, digest } = JSON.parse(line)
    const isLine =
      Number.isSafeInteger(act.number) && act.number > 0 && /^[0-9a-f]{64}$/.test(String(digest))
    return isLine ? { number: BigInt(act.number), digest: Buffer.from(digest, 'hex') } : undefined
  } catch {
    return undefined
  }
}

/**
 * The newest act among the whole lines of a text. Mostly the last line; but a worker that was
 * stopped while it shipped may go on later, and write older acts once more.
 */
export function newestMarkOf(text: string): Mark | undefined {
  let newest: Mark | undefined
  for (const line of text.split('\n')) {
    const mark = markOf(line)
    if (mark !== undefined && mark.number >= (newest?.number ?? 0n)) newest = mark
  }
  return newest
}

export function isSameMark(one: Mark, other: Mark): boolean {
  return one.number === other.number && one.digest.equals(other.digest)
}
