// Who the operators are: inviting, disabling, roles, and taking a lost factor away. Changes run one
// after the other, so that two of them cannot leave the installation without an active admin.
import { createHash } from 'node:crypto'
import type { Db, Tx } from '../platform/db/db.ts'
import { randomText } from '../platform/ids.ts'
import type { Role } from './permissions.ts'
import * as queries from './queries.ts'
import { operatorRefusal, signInRefusal } from './refusals.ts'

/** A working day and the night after it: the code is handed over by another way than the name. */
const INVITATION_HOURS = 24
const CODE_BYTES = 24
const NAME_MAX = 60

export type Invitation = {
  readonly operator: queries.OperatorRow
  /** Shown once; the database has its digest. */
  readonly code: string
  readonly hours: number
}

export function createPeople(db: Db) {
  /** Refuses: operator_unknown. */
  async function requireOperator(text: string, executor: Tx | Db = db) {
    const found = await queries.operatorFind(executor, text.trim())
    if (found !== undefined) return found
    throw operatorRefusal('operator_unknown', `There is no operator ${text.trim()}.`)
  }

  async function keepAnAdmin(tx: Tx, { id, role, state }: queries.OperatorRow): Promise<void> {
    if (role !== 'admin' || state !== 'active') return
    if (await queries.otherAdminExists(tx, id)) return
    throw operatorRefusal(
      'operator_last_admin',
      'This is the last active admin: make another one first.',
    )
  }

  async function invite(tx: Tx, id: string): Promise<Invitation> {
    const code = randomText(CODE_BYTES)
    const digest = createHash('sha256').update(code).digest()
    await queries.operatorInvite(tx, { id, digest, hours: INVITATION_HOURS })
    return { operator: await requireOperator(id, tx), code, hours: INVITATION_HOURS }
  }

  return {
    /** By id or whole address; undefined when there is none. */
    find: (text: string) => queries.operatorFind(db, text.trim()),
    requireOperator: (text: string) => requireOperator(text),
    list: () => queries.operatorList(db),
    /** How many operators there are, and how many of them can sign in. */
    count: () => queries.operatorCount(db),

    /**
     * Invites a new operator. `isFirst`: only while there is none, so that two people on the
     * machine cannot both be the first. Refuses: operator_exists, operator_not_first.
     */
    async create(
      tx: Tx,
      p: {
        readonly email: string
        readonly name: string
        readonly role: Role
        readonly by: string
        readonly isFirst: boolean
      },
    ): Promise<Invitation> {
      await queries.operatorsLock(tx)
      if (p.isFirst && (await queries.operatorCount(tx)).all > 0) {
        throw operatorRefusal('operator_not_first', 'There is an operator already: op login first.')
      }
      const id = `opr_${randomText(12)}`
      const name = p.name.replace(/[\p{Cc}\p{Cf}()@\s]+/gu, ' ').trim()
      const row = { id, email: p.email.trim(), name: name.slice(0, NAME_MAX), role: p.role }
      if (!(await queries.operatorInsert(tx, { ...row, by: p.by }))) {
        throw operatorRefusal('operator_exists', `${p.email.trim()} is an operator already.`)
      }
      return invite(tx, id)
    },

    /**
     * The operator was recognised before a question was answered: an admin may have been faster.
     * Refuses: operator_session_missing.
     */
    async requireStill(
      tx: Tx,
      who: { readonly operator: string; readonly role: Role },
    ): Promise<void> {
      if (await queries.roleIsStill(tx, who)) return
      throw signInRefusal('operator_session_missing', 'You were disabled or have another role now.')
    },

    /** Ends the sessions too. May be repeated. Refuses: operator_last_admin. */
    async disable(tx: Tx, id: string): Promise<void> {
      await queries.operatorsLock(tx)
      await keepAnAdmin(tx, await requireOperator(id, tx))
      await queries.operatorSetState(tx, id, 'disabled')
      await queries.sessionsDelete(tx, id)
    },

    /** A disabled operator signs in as before; without a password and factor, as invited. */
    async enable(tx: Tx, id: string): Promise<Invitation | undefined> {
      await queries.operatorsLock(tx)
      const { hasApp, passkeys, state } = await requireOperator(id, tx)
      if (state !== 'disabled') return undefined
      if (!hasApp && passkeys === 0) return invite(tx, id)
      await queries.operatorSetState(tx, id, 'active')
      return undefined
    },

    /** The sessions go on, with the new role. Refuses: operator_last_admin. */
    async changeRole(tx: Tx, id: string, role: Role): Promise<void> {
      await queries.operatorsLock(tx)
      const found = await requireOperator(id, tx)
      if (role !== 'admin') await keepAnAdmin(tx, found)
      await queries.operatorSetRole(tx, id, role)
    },

    /** Takes password, factors and sessions away and invites anew. Refuses: operator_last_admin. */
    async reset(tx: Tx, id: string, isLastAllowed = false): Promise<Invitation> {
      await queries.operatorsLock(tx)
      const found = await requireOperator(id, tx)
      if (!isLastAllowed) await keepAnAdmin(tx, found)
      return invite(tx, found.id)
    },
  }
}
