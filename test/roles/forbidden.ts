// What a stolen password of each program must not be enough for: the acts, and how PostgreSQL
// answers them. Shared by the tests and by the fault program `roles`.
import pg from 'pg'
import type { DatabaseRole } from '../../src/platform/db/roles.ts'
import { urlAs } from '../../tools/program-roles.ts'

export type Forbidden = {
  readonly what: string
  readonly roles: readonly DatabaseRole[]
  readonly sql: string
}

/**
 * Not the keeper: who owns the entries can change them, and a trigger of its own on them runs with
 * the owner's rights. Its password is worth the owner's, and the check of acts must find its use.
 */
const PROGRAMS: readonly DatabaseRole[] = [
  'tollgate_gateway',
  'tollgate_cabinet',
  'tollgate_worker',
  'tollgate_operator',
]
const ALL: readonly DatabaseRole[] = [...PROGRAMS, 'tollgate_auditor']

export const forbidden: readonly Forbidden[] = [
  {
    what: 'forge a purchase',
    roles: ALL,
    sql: `select ledger_credit(1, 'purchase', 'forged', 1000000000000000, 'clearing', '')`,
  },
  {
    what: 'post without a function',
    roles: ALL,
    sql: `insert into postings (kind, ref, book_id, amount, seq, at)
      values ('purchase', 'forged', 1, 1, 1, now())`,
  },
  {
    what: 'write an entry',
    roles: ALL,
    sql: `insert into entries (book_id, seq, amount, balance, at, day, kind, contra, ref)
      values (1, 1, 1, 1, now(), current_date, 'purchase', 'clearing', 'forged')`,
  },
  { what: 'raise a balance', roles: ALL, sql: 'update books set available = available + 1' },
  { what: 'erase entries', roles: ALL, sql: 'delete from entries' },
  { what: 'alter postings', roles: ALL, sql: 'update postings set amount = 1' },
  { what: 'empty postings', roles: ALL, sql: 'truncate postings cascade' },
  { what: 'erase an act', roles: ALL, sql: 'delete from operator_acts' },
  { what: 'alter an act', roles: ALL, sql: `update operator_acts set acted_by = 'nobody'` },
  { what: 'empty the acts', roles: ALL, sql: 'truncate operator_acts' },
  {
    what: 'disable a trigger of acts',
    roles: ALL,
    sql: 'alter table operator_acts disable trigger all',
  },
  {
    what: 'disable a trigger of entries',
    roles: ALL,
    sql: 'alter table entries disable trigger all',
  },
  {
    what: 'skip triggers',
    roles: ALL,
    sql: 'set session_replication_role = replica',
  },
  { what: 'replace a function', roles: ALL, sql: 'drop function ledger_now cascade' },
  { what: 'make a table', roles: ALL, sql: 'create table public.books_copy ()' },
  {
    what: 'credit an order',
    roles: ['tollgate_gateway', 'tollgate_auditor'],
    sql: `select orders_credit('pay_1', 'payment', now(), null, 'sweep')`,
  },
  {
    what: 'give credits',
    roles: ['tollgate_gateway', 'tollgate_cabinet', 'tollgate_worker', 'tollgate_auditor'],
    sql: `select ledger_gift(1, 'op forged', 1, '')`,
  },
  {
    what: 'correct a balance upwards',
    roles: ['tollgate_gateway', 'tollgate_cabinet', 'tollgate_worker', 'tollgate_auditor'],
    sql: `select ledger_adjust_up(1, 'forged', 1, 'loss', '')`,
  },
  {
    what: 'reverse a refund',
    roles: ['tollgate_gateway', 'tollgate_auditor'],
    sql: `select ledger_refund_reverse(1, 1, 'rfd_1', '')`,
  },
  {
    what: 'mark an order credited',
    roles: ALL,
    sql: `update orders set credited_at = now(), lot = 1, credited_by = 'sweep'`,
  },
  { what: 'change what an order sold', roles: ALL, sql: 'update orders set credits = 1' },
  {
    what: 'settle',
    roles: ['tollgate_cabinet', 'tollgate_auditor'],
    sql: `select ledger_settle_request(true, 1, gen_random_uuid(), 1, 0, 0, 0, 0, 0, 0, 'complete',
      false, null, null, null)`,
  },
  {
    what: 'list key hashes',
    roles: ['tollgate_gateway', 'tollgate_worker', 'tollgate_auditor'],
    sql: 'select id, hash from keys',
  },
  {
    what: 'read the codes in e-mails',
    roles: ['tollgate_gateway', 'tollgate_cabinet', 'tollgate_operator', 'tollgate_auditor'],
    sql: 'select body_text from letters',
  },
  {
    what: 'say that an e-mail was sent',
    roles: ['tollgate_gateway', 'tollgate_cabinet', 'tollgate_operator', 'tollgate_auditor'],
    sql: `insert into letters (kind, once, recipient, subject, state, ended_at)
      values ('recovery-opened', 'rcv_1 mailbox', 'x', '', 'sent', now() - interval '2 days')`,
  },
  {
    what: 'read passwords',
    roles: ['tollgate_gateway', 'tollgate_operator', 'tollgate_auditor'],
    sql: 'select password_hash from credentials',
  },
  {
    what: 'read sessions',
    roles: ['tollgate_gateway', 'tollgate_operator', 'tollgate_auditor'],
    sql: 'select secret from sessions',
  },
  {
    what: 'apply prices',
    roles: ['tollgate_gateway', 'tollgate_cabinet', 'tollgate_worker', 'tollgate_auditor'],
    sql: `insert into catalogue_versions (version, applied_by, note, body, digest)
      values (99, 'nobody', '', 'x', 'x')`,
  },
  {
    what: 'write an act',
    roles: ['tollgate_gateway', 'tollgate_cabinet', 'tollgate_auditor'],
    sql: `insert into operator_acts (acted_by, os_user, command, outcome, detail)
      values ('olga', 'olga', 'audit', 'done', '')`,
  },
]

/** Connects as each role and tries; the acts that were not refused for want of a right. */
export async function tryForbidden(
  url: string,
  acts: readonly Forbidden[] = forbidden,
): Promise<{ readonly tried: number; readonly allowed: readonly string[] }> {
  const allowed: string[] = []
  let tried = 0
  for (const role of ALL) {
    const client = new pg.Client({ connectionString: urlAs(url, role) })
    await client.connect()
    for (const { what, sql } of acts.filter(({ roles }) => roles.includes(role))) {
      await client.query('begin')
      const code = await client.query(sql).then(
        () => 'done',
        (error: { code?: string }) => error.code ?? 'lost',
      )
      await client.query('rollback')
      tried += 1
      if (code !== '42501') allowed.push(`${role} could ${what}: ${code}`)
    }
    await client.end()
  }
  return { tried, allowed }
}
