// Tokens for commands that no person runs: checks on a schedule, and reports. They have a role and
// an end, sign nobody in, and run only commands that the table of commands marks.
import { createHash } from 'node:crypto'
import type { Db, Tx } from '../../platform/db/db.ts'
import { randomText } from '../../platform/ids.ts'
import type { Role } from '../permissions.ts'
import { operatorRefusal } from '../refusals.ts'
import * as queries from './queries.ts'

const TOKEN_BYTES = 32

export function createTokens(db: Db) {
  return {
    /** The token is returned once. Refuses: token_exists. */
    async create(
      tx: Tx,
      p: {
        readonly name: string
        readonly role: Role
        readonly days: number
        readonly by: string
      },
    ): Promise<{ readonly id: string; readonly token: string }> {
      const id = `opt_${randomText(12)}`
      const token = randomText(TOKEN_BYTES)
      if (!(await queries.tokenInsert(tx, { ...p, id, digest: digestOf(token) }))) {
        throw operatorRefusal(
          'token_exists',
          `There is a token ${p.name} already: revoke it first.`,
        )
      }
      return { id, token }
    },

    /** The token that is in force; undefined for any other text. */
    find: (token: string) => queries.tokenTouch(db, digestOf(token)),
    list: () => queries.tokenList(db),

    /** Refuses: token_unknown. */
    async revoke(tx: Tx, text: string): Promise<void> {
      if (await queries.tokenRevoke(tx, text)) return
      throw operatorRefusal('token_unknown', `No token ${text} is in force.`)
    },
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
