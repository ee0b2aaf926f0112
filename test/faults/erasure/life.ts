// The life of a customer who does everything the service offers, and of operators who name the
// customer in every text they may type: by the address, in other spellings of it, and by name.
import { ok } from 'node:assert/strict'
import { systemClock } from '../../../src/platform/clock.ts'
import type { AccountId, BookId } from '../../../src/platform/ids.ts'
import { createSummaries } from '../../../src/summaries/summaries.ts'
import { PASSWORD, totpCode } from '../../stages/accounts.ts'
import { addPasskey, issueKey } from '../../stages/cabinet-owner.ts'
import type { OperatorStage } from '../../stages/operator.ts'
import { quiet } from '../../support/harness.ts'

export const LOCAL = 'anna.forget'
export const ADDRESS = `${LOCAL}@example.org`
export const NEW_ADDRESS = 'anna.forget.moved@example.org'
/** She asks for it and never opens the link. */
export const PENDING_ADDRESS = 'anna.forget.pending@example.org'
/** Somebody else says that this is hers; she never has it. */
export const CLAIMED_ADDRESS = 'anna.forget.claims@example.org'
export const NAME = 'Anna Forget'
/** What an operator types about her. */
const TOLD = `${NAME} (${ADDRESS.toUpperCase()}, anna%2Eforget%40example.org) asked, <${ADDRESS}>`

export type Life = { readonly account: string; readonly book: BookId; readonly orders: string[] }

export async function live(stage: OperatorStage): Promise<Life> {
  const own = await stage.person(LOCAL)
  await failToSignIn(stage)
  await own.expectOk('POST /api/auth/sign-in/email', { email: ADDRESS, password: PASSWORD })
  await addPasskey(own, `${NAME}'s phone`)
  const { body } = await own.expectOk<{ uri: string }>('POST /api/auth/two-factor/enable', {
    password: PASSWORD,
  })
  await own.expectOk('POST /api/auth/two-factor/verify-totp', { code: totpCode(body.uri) })
  const orders: string[] = []
  for (let i = 0; i < 4; i += 1) orders.push((await stage.buyPack(own)).id)
  await issueKey(own)
  for (const label of [ADDRESS, LOCAL]) {
    const details = { label, sessionId: `s-${label}`, agentId: `a-${label}`, isStream: true }
    await stage.spend(own.book, 1_000, details)
  }
  await stage.ledger.aggregateUsage()
  await decide(stage, { account: own.account, book: own.book, orders })
  await recover(stage, own.account)
  await summariesOf(stage).run()
  await askTwice(stage)
  await own.expectOk('GET /api/export')
  await moveMailbox(stage, own)
  return { account: own.account, book: own.book, orders }
}

async function failToSignIn(stage: OperatorStage): Promise<void> {
  const wrong = stage.browser()
  await wrong.send('POST /api/auth/sign-in/email', { email: ADDRESS, password: `not ${LOCAL}` })
  await wrong.send('POST /api/auth/request-password-reset', { email: ADDRESS })
  const consents = stage.documents.list().filter((one) => one.isRequired)
  const again = { email: ADDRESS, password: PASSWORD, language: 'en', consents }
  await wrong.send('POST /api/auth/register', again)
  await wrong.send('POST /api/auth/register', { email: ADDRESS, password: 1 })
}

/** Every command that takes a free text, with her address and name in it. */
async function decide(stage: OperatorStage, { account, book, orders }: Life): Promise<void> {
  const [first = '', second = '', third = '', fourth = ''] = orders
  const why = ['--reason', TOLD]
  const note = ['--note', TOLD]
  const typed: string[][] = [
    ['find', ADDRESS],
    ['find', LOCAL],
    ['find', 'forget'],
    ['statement', ADDRESS],
    ['acts', '--about', ADDRESS],
    ['usage', 'refused', ADDRESS],
    ['grant', ADDRESS, '100', ...why],
    ['grant', String(book), '100', ...why],
    ['adjust', ADDRESS, '-50', ...why],
    ['refund', first, '--amount', '10.00', ...why],
    ['disputes', 'open', second, ...note],
    ['disputes', 'won', second, ...note],
    ['suspend', ADDRESS, ...why],
    ['unsuspend', account, ...why],
    ['promo', 'create', 'FORGET-1', '10', '--max', '1', '--until', '2099-01-01', ...note],
    ['promo', 'end', 'FORGET-1', ...why],
    ['mail', 'test', ADDRESS],
    ['disputes', 'evidence', second],
    ['refund', ADDRESS, ...why],
    ['grant', 'nobody.else@example.org', '1', '--reason', `not ${ADDRESS}`],
  ]
  for (const args of typed) await stage.op([...args, '--yes'])
  await stage.payments.jobs.pollRefunds()
  await stage.sim('settle')
  await stage.payments.jobs.pollRefunds()
  await stage.payments.jobs.applyNotification()
  // The bank's stand-in of this stage makes no receipts.
  await stage.db.query(
    `insert into receipts (id, kind, order_id, state, amount_kopecks, credits, error)
     select 'rcp_' || substr(id, 5), 'prepayment', id, 'failed', price_kopecks, credits, $2
     from orders where id = $1`,
    [third, `refused for ${TOLD}`],
  )
  await stage.op(['receipts', 'dismiss', third, ...note, '--yes'])
  await review(stage, fourth)
  await stage.op(['revoke', ADDRESS, ...why, '--yes'])
}

/** A payment of hers that differs from its order, which a person decides about. */
async function review(stage: OperatorStage, order: string): Promise<void> {
  await stage.db.query(
    `insert into payment_reviews (order_id, provider, provider_payment_id, reason, detail,
       amount_kopecks, has_money)
     select id, provider, provider_payment_id, 'amount', $2, 100, false from orders where id = $1`,
    [order, `the payer is ${TOLD}`],
  )
  const { rows } = await stage.db.query('select max(id) as id from payment_reviews')
  const { id } = rows[0] as { id: bigint }
  await stage.op(['reviews', 'resolve', String(id), 'dismiss', '--note', TOLD, '--yes'])
}

/** Somebody who claims to be her asks support for another mailbox, which support stops. */
async function recover(stage: OperatorStage, account: AccountId): Promise<void> {
  const why = ['--reason', TOLD, '--yes']
  await stage.op(['recover', 'check', ADDRESS, '--payment', '--key'], `${NAME} <${ADDRESS}>`)
  const matched = (['payment', 'key'] as const).map((step) => ({ step, isMatched: true }))
  await stage.db.transaction((tx) => stage.accounts.recovery.recordIdentity(tx, account, matched))
  await stage.op(['recover', 'begin', ADDRESS, '--mailbox', CLAIMED_ADDRESS, ...why])
  const stopped = await stage.op(['recover', 'stop', ADDRESS, ...why])
  ok(/is stopped/.test(stopped.out), stopped.all)
  await stage.op(['unlock', ADDRESS, ...why])
}

/** The next morning of a month: a summary of this one is written to her. */
function summariesOf({ ledger, payments, mail, brand, accounts }: OperatorStage) {
  const now = new Date()
  const nowMs = () => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1, 6, 10)
  return createSummaries({
    ...{ db: ledger.db, ledger, payments, mail, brand, accounts, log: quiet },
    clock: { ...systemClock, nowMs },
  })
}

/** From now on there are operators: one asks, another declines, and then approves. */
async function askTwice(stage: OperatorStage): Promise<void> {
  const olga = await stage.people.newcomer('olga', 'finance')
  const nina = await stage.people.newcomer('nina', 'finance')
  for (const decision of [['decline', '--reason', TOLD], ['approve']] as const) {
    const ask = ['adjust', ADDRESS, '5000', '--reason', TOLD, '--yes', '--json']
    const { out, all } = await stage.opAs(olga.token, ask)
    const { approval } = JSON.parse(out) as { approval?: string }
    ok(approval, `a second person must approve: ${all}`)
    const [word, ...more] = decision
    const decided = await stage.opAs(nina.token, ['approvals', word, approval, ...more, '--yes'])
    ok(decided.code === 0, decided.all)
  }
}

/** Her address changes, and the time to undo it passes. */
async function moveMailbox(
  stage: OperatorStage,
  own: Awaited<ReturnType<OperatorStage['person']>>,
): Promise<void> {
  await own.expectOk('POST /api/auth/email/change', { newEmail: NEW_ADDRESS })
  const { rows } = await stage.db.query(
    `select body_text as text from letters where recipient = $1 and kind = 'confirm-new-email'`,
    [NEW_ADDRESS],
  )
  const code = /#code=([\w-]+)/.exec((rows[0] as { text: string } | undefined)?.text ?? '')?.[1]
  ok(code, 'the new mailbox has a code')
  await own.expectOk('POST /api/auth/email/confirm', { code })
  await stage.db.query(
    `update email_changes set changed_at = changed_at - interval '60 days',
       undo_until = clock_timestamp() - interval '1 day'`,
  )
  await stage.accounts.sweep()
  await own.expectOk('POST /api/auth/email/change', { newEmail: PENDING_ADDRESS })
  await own.expectOk('POST /api/closing', { unspent: 'forfeit' })
  for (let i = 0; i < 5; i += 1) {
    await stage.db.query(
      'update account_closings set next_at = ledger_now() where ended_at is null',
    )
    await stage.accounts.closings.run()
  }
}

export { TOLD }
