// A refund raced against fifty requests that spend the same pack, through a real gateway process.
// What goes back is never worth more than what was not spent. A refund forced by the provider's
// desk leaves a debt and never a negative balance; requests get 402 until the next purchase covers
// it. In every round each credit is accounted for: spent, returned, or still there.
import { setTimeout as delay } from 'node:timers/promises'
import type { BookId, OrderId } from '../../src/platform/ids.ts'
import { isRefusal } from '../../src/platform/refusal.ts'
import { type Credits, credits } from '../../src/units/credits.ts'
import { startVendor, type Vendor } from '../../stand-ins/vendor/vendor.ts'
import { pack as usualPack } from '../stages/payments.ts'
import { freePorts } from '../stages/served/gateway.ts'
import { createPaymentStage, type PaymentStage } from '../stages/served/payments.ts'
import { startPaymentProcess } from '../stages/served/process.ts'
import type { Fault } from '../support/fault.ts'
import { hold, random } from '../support/fault.ts'
import { createTestKeys, keySettings } from '../support/harness.ts'

const REQUESTS = 50
const OUTPUT_TOKENS = 20
/** What an output token of the example catalogue costs. */
const COEFFICIENT = 5
const BODY = `{"model":"model-small","max_tokens":${OUTPUT_TOKENS},"messages":[${JSON.stringify({
  role: 'user',
  content: 'Hello',
})}]}`
/** Plain ASCII: the bound of the input is the bytes of the body. */
const INPUT_BOUND = Buffer.byteLength(BODY)
const WORST = INPUT_BOUND + OUTPUT_TOKENS * COEFFICIENT

type Race = {
  readonly stage: PaymentStage
  readonly vendor: Vendor
  readonly url: string
  readonly draw: () => number
}
type Owned = { readonly id: OrderId; readonly book: BookId; readonly key: string }

export const fault: Fault = async ({ isFull, seed, say }) => {
  const rounds = isFull ? { asked: 200, forced: 60 } : { asked: 10, forced: 3 }
  const stage = await createPaymentStage({ workers: 1 })
  const vendor = await startVendor({ requestsMax: 200 })
  const [port = 0, metricsPort = 0] = await freePorts(2)
  const gateway = await startPaymentProcess('serve', {
    ...stage.env,
    GATEWAY_PORT: String(port),
    GATEWAY_PROCESSES: '1',
    METRICS_PORT: String(metricsPort),
    UPSTREAM_URL: vendor.url,
    UPSTREAM_KEY: vendor.keys[0] ?? '',
    KEYS_TAG_SECRET: keySettings.tagSecret.reveal(),
    KEYS_LOOKUP_SECRET: keySettings.lookupSecret.reveal(),
  })
  const race = { stage, vendor, url: `http://127.0.0.1:${port}`, draw: random(seed) }
  const sums = { requests: 0, admitted: 0, returned: 0, busy: 0, spentFirst: 0, debts: 0 }
  try {
    for (let i = 0; i < rounds.asked; i++) add(sums, await asked(race, i))
    say(`${rounds.asked} refunds asked for while ${REQUESTS} requests spend`)
    hold(sums.busy <= rounds.asked / 10, `a busy account is refunded (${sums.busy} were not)`)
    for (let i = 0; i < rounds.forced; i++) add(sums, await forced(race))
    say(`${rounds.forced} refunds forced while ${REQUESTS} requests spend`)
    const findings = await stage.ledger.audit('all')
    hold(findings.length === 0, `the audit is empty (${findings[0]?.rule} ${findings[0]?.detail})`)
    return { rounds: rounds.asked + rounds.forced, ...sums, findings: findings.length }
  } finally {
    await gateway.stop()
    await vendor.close()
    await stage.end()
  }
}

function add<T extends Record<string, number>>(sums: T, more: Partial<T>): void {
  for (const [name, value] of Object.entries(more)) {
    ;(sums as Record<string, number>)[name] = (sums[name] ?? 0) + Number(value)
  }
}

/** A pack for so many requests, paid and credited, with a key. */
async function owned({ stage }: Race, requests: number): Promise<Owned> {
  const book = await stage.newBook()
  const pack = { ...usualPack, credits: credits(requests * WORST) }
  const { id } = await stage.buy(book, { pack })
  // Its first notice would make those of its refunds wait for ten seconds.
  await stage.sim('modes', { mode: 'drop', event: 'payment.succeeded', orderId: id, times: 1 })
  await stage.sim('pay', { orderId: id })
  hold((await stage.payments.check(id)).state === 'credited', 'the payer’s return credits')
  const keys = createTestKeys(stage.db, stage.ledger)
  const issued = await stage.db.transaction((tx) => keys.issue(tx, book))
  await stage.db.transaction((tx) => keys.confirm(tx, book, issued.keyId))
  return { id, book, key: issued.plain }
}

/** Sends all requests; each begins at a moment of its own within the span. */
async function spend({ url, draw }: Race, key: string, spanMs: number) {
  const statuses = await Promise.all(
    Array.from({ length: REQUESTS }, async () => {
      await delay(draw() * spanMs)
      return ask(url, key)
    }),
  )
  const admitted = statuses.filter((status) => status === 200).length
  const refused = statuses.filter((status) => status === 402).length
  hold(admitted + refused === REQUESTS, `each is served or gets 402 (${statuses})`)
  return admitted
}

async function ask(url: string, key: string): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-api-key': key, 'x-credit-clamp': 'off' }
  const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body: BODY })
  const balance = response.headers.get('x-credit-balance')
  hold(balance === null || Number(balance) >= 0, `no balance is negative (${balance})`)
  const text = await response.text()
  if (response.status === 402) hold(/billing_error/.test(text), `a 402 says why (${text})`)
  return response.status
}

/** Looks at the book again and again; the table would refuse a negative one, and so do we. */
function watchBook({ stage }: Race, book: BookId) {
  const state = { isOver: false }
  const watching = (async () => {
    while (!state.isOver) {
      const seen = await stage.ledger.balance(book)
      const isSound = seen !== undefined && seen.available >= 0n && seen.held >= 0n
      hold(isSound && seen.debt >= 0n, `the book is never negative (${seen?.available})`)
      await delay(10)
    }
  })()
  watching.catch(() => undefined) // thrown by stop
  return {
    stop() {
      state.isOver = true
      return watching
    },
  }
}

/** Once nothing is held: what was charged, and what the book shows. */
async function settled({ stage }: Race, book: BookId) {
  const seen = await stage.until('nothing is held', async () => {
    const found = await stage.ledger.balance(book)
    return found?.held === 0n && found
  })
  const entries = await stage.entries(book)
  const charged = entries
    .filter((one) => one.kind === 'charge')
    .reduce((sum, one) => sum - one.amount, 0n)
  return { ...seen, charged }
}

async function refund({ stage }: Race, { id, book }: Owned) {
  const word = { order: id, book, attempt: 'race', by: 'owner', reason: '' }
  try {
    return await stage.payments.requestRefund(word)
  } catch (error) {
    // The last credit may be gone, or the account so busy that the sums never meet.
    if (isRefusal(error, 'refund_refused')) return 'spent'
    if (isRefusal(error, 'refund_exceeds_unspent')) return 'busy'
    throw error
  }
}

/** The owner asks for everything back while programs with the key go on. */
async function asked(race: Race, round: number) {
  const { stage, vendor, draw } = race
  // Half of the packs are too small for all; half of the replies cost less than is held for them.
  const bought = await owned(race, round % 2 === 0 ? REQUESTS : REQUESTS / 2)
  const used = round % 4 < 2 ? OUTPUT_TOKENS : 3
  vendor.clear()
  vendor.mode({
    fault: `usage-input=${INPUT_BOUND} usage-output=${used} headers-ms=${Math.round(draw() * 60)}`,
  })
  const watch = watchBook(race, bought.book)
  const asking = delay(draw() * 400).then(() => refund(race, bought))
  const [refunded, admitted] = await Promise.all([asking, spend(race, bought.key, 300)])
  await watch.stop()
  const after = await settled(race, bought.book)
  const order = await stage.payments.order(bought.id, bought.book)
  const whole = order.pack.credits
  const back = typeof refunded === 'string' ? undefined : refunded
  const returned = back?.credits ?? (0n as Credits)
  const sum = after.charged + returned + after.available
  hold(sum === whole, `each credit is spent, returned or there (${sum} of ${whole})`)
  hold(after.debt === 0n, 'a refund that was asked for makes no debt')
  const unspentWorth = (order.priceKopecks * (whole - after.charged)) / whole
  const money = back?.amount ?? 0n
  hold(money <= unspentWorth, `no more than the unspent part (${money} of ${unspentWorth})`)
  const { payments } = await stage.sim(`payments?orderId=${bought.id}`, {}, 'GET')
  const [paid] = payments as { refunded_amount?: { value: string } }[]
  const gone = BigInt((paid?.refunded_amount?.value ?? '0.00').replace('.', ''))
  hold(gone === money, `the provider gave back exactly that (${gone} of ${money})`)
  return {
    requests: REQUESTS,
    admitted,
    returned: back === undefined ? 0 : 1,
    busy: refunded === 'busy' ? 1 : 0,
    spentFirst: refunded === 'spent' ? 1 : 0,
  }
}

/** Somebody at the provider's desk gives all of it back while programs with the key go on. */
async function forced(race: Race) {
  const { stage, vendor, url } = race
  const bought = await owned(race, REQUESTS)
  vendor.clear()
  vendor.mode({
    fault: `usage-input=${INPUT_BOUND} usage-output=${OUTPUT_TOKENS} headers-ms=150`,
  })
  const watch = watchBook(race, bought.book)
  // A worker asks about the notice within a second, in the middle of the requests.
  const [admitted] = await Promise.all([
    spend(race, bought.key, 1_500),
    stage.sim('refund', { orderId: bought.id }),
  ])
  await stage.untilState(bought.id, 'refunded')
  await watch.stop()
  const after = await settled(race, bought.book)
  hold(after.available === 0n, `all of the pack is gone (${after.available})`)
  hold(after.debt === after.charged, `what was spent is owed (${after.debt} of ${after.charged})`)
  hold((await ask(url, bought.key)) === 402, 'requests are refused')
  if (after.debt > 0n) await coverDebt(race, bought, after.debt)
  return { requests: REQUESTS, admitted, returned: 1, debts: after.debt > 0n ? 1 : 0 }
}

/** A purchase that is too small leaves the rest of the debt; the next one covers it. */
async function coverDebt(race: Race, { book, key }: Owned, debt: bigint): Promise<void> {
  const { stage, url } = race
  const topUp = async (amount: Credits) => {
    const { id } = await stage.buy(book, { pack: { ...usualPack, id: 'more', credits: amount } })
    await stage.sim('pay', { orderId: id })
    hold((await stage.payments.check(id)).state === 'credited', 'the next pack is credited')
  }
  await topUp(credits(1))
  const less = await stage.ledger.balance(book)
  hold(less?.debt === debt - credits(1) && less.available === 0n, 'a purchase pays debt first')
  hold((await ask(url, key)) === 402, 'requests are refused while anything is owed')
  await topUp((less.debt + credits(WORST)) as Credits)
  const more = await stage.ledger.balance(book)
  hold(more?.debt === 0n && more.available === credits(WORST), 'the debt is covered, to the credit')
  hold((await ask(url, key)) === 200, 'and requests are served')
}
