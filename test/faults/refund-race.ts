// A refund runs while fifty requests spend the same pack, through a real gateway process. The
// refund never returns more than the unspent part. A refund made at the provider leaves a debt and
// never a negative balance; requests get 402 until the next purchase covers the debt. In every
// round each credit is spent, returned or still available.
import { setTimeout as delay } from 'node:timers/promises'
import type { BookId, OrderId } from '../../src/platform/ids.ts'
import { isRefusal } from '../../src/platform/refusal.ts'
import { type Credits, credits } from '../../src/units/credits.ts'
import { startVendor, type Vendor } from '../../stand-ins/vendor/vendor.ts'
import { freePorts } from '../../tools/free-port.ts'
import { pack as usualPack } from '../stages/payments.ts'
import { createPaymentStage, type PaymentStage } from '../stages/served/payments.ts'
import { startPaymentProcess } from '../stages/served/process.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, random } from '../support/drill.ts'
import { createTestKeys, keySettings } from '../support/harness.ts'

const REQUESTS = 50
const OUTPUT_TOKENS = 20
/** What an output token of the example catalogue costs. */
const COEFFICIENT = 5
const BODY = `{"model":"model-small","max_tokens":${OUTPUT_TOKENS},"messages":[${JSON.stringify({
  role: 'user',
  content: 'Hello',
})}]}`
/** The body is ASCII, so its upper bound of input tokens is its number of bytes. */
const INPUT_BOUND = Buffer.byteLength(BODY)
const WORST = INPUT_BOUND + OUTPUT_TOKENS * COEFFICIENT

type Race = {
  readonly stage: PaymentStage
  readonly vendor: Vendor
  readonly url: string
  readonly draw: () => number
}
type Owned = { readonly id: OrderId; readonly book: BookId; readonly key: string }

export const drill: Drill = async ({ isFull, seed, say }) => {
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
    say(`${rounds.asked} refunds requested by owners while ${REQUESTS} requests spend`)
    ensure(
      sums.busy <= rounds.asked / 10,
      `at least 9 of 10 refunds of busy accounts succeed (${sums.busy} did not)`,
    )
    for (let i = 0; i < rounds.forced; i++) add(sums, await forced(race))
    say(`${rounds.forced} refunds made at the provider while ${REQUESTS} requests spend`)
    const findings = await stage.ledger.audit('all')
    ensure(
      findings.length === 0,
      `the audit is empty (${findings[0]?.rule} ${findings[0]?.detail})`,
    )
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

/** Buys a pack for `requests` requests, pays it, and issues a key. */
async function owned({ stage }: Race, requests: number): Promise<Owned> {
  const book = await stage.newBook()
  const pack = { ...usualPack, credits: credits(requests * WORST) }
  const { id } = await stage.buy(book, { pack })
  // Drop its first notification: it would delay those of the refund by ten seconds.
  await stage.sim('modes', { mode: 'drop', event: 'payment.succeeded', orderId: id, times: 1 })
  await stage.sim('pay', { orderId: id })
  ensure(
    (await stage.payments.check(id)).state === 'credited',
    'the check after payment credits the order',
  )
  const keys = createTestKeys(stage.db, stage.ledger)
  const issued = await stage.db.transaction((tx) => keys.issue(tx, book))
  await stage.db.transaction((tx) => keys.confirm(tx, book, issued.keyId))
  return { id, book, key: issued.plain }
}

/** Sends all requests, each at a random moment within `spanMs`; returns how many got 200. */
async function spend({ url, draw }: Race, key: string, spanMs: number) {
  const statuses = await Promise.all(
    Array.from({ length: REQUESTS }, async () => {
      await delay(draw() * spanMs)
      return ask(url, key)
    }),
  )
  const admitted = statuses.filter((status) => status === 200).length
  const refused = statuses.filter((status) => status === 402).length
  ensure(admitted + refused === REQUESTS, `each request gets 200 or 402 (${statuses})`)
  return admitted
}

async function ask(url: string, key: string): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-api-key': key, 'x-credit-clamp': 'off' }
  const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body: BODY })
  const balance = response.headers.get('x-credit-balance')
  ensure(balance === null || Number(balance) >= 0, `no balance is negative (${balance})`)
  const text = await response.text()
  if (response.status === 402)
    ensure(/billing_error/.test(text), `a 402 has the type billing_error (${text})`)
  return response.status
}

/** Checks the book every 10 ms; a constraint of the table forbids negative amounts too. */
function watchBook({ stage }: Race, book: BookId) {
  const state = { isOver: false }
  const watching = (async () => {
    while (!state.isOver) {
      const seen = await stage.ledger.balance(book)
      const isSound = seen !== undefined && seen.available >= 0n && seen.held >= 0n
      ensure(isSound && seen.debt >= 0n, `the book is never negative (${seen?.available})`)
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

/** Waits until no credits are held; returns the balance and the sum of all charges. */
async function settled({ stage }: Race, book: BookId) {
  const seen = await stage.until('no credits are held', async () => {
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
  const input = { order: id, book, attempt: 'race', by: 'owner', reason: '' }
  try {
    return await stage.payments.requestRefund(input)
  } catch (error) {
    // All credits may be spent, or the unspent part keeps changing while it is computed.
    if (isRefusal(error, 'refund_refused')) return 'spent'
    if (isRefusal(error, 'refund_exceeds_unspent')) return 'busy'
    throw error
  }
}

/** The owner requests a refund of the pack while programs with the key keep spending. */
async function asked(race: Race, round: number) {
  const { stage, vendor, draw } = race
  // Half of the packs are too small for all requests; half of the replies cost less than the hold.
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
  ensure(sum === whole, `each credit is spent, returned or available (${sum} of ${whole})`)
  ensure(after.debt === 0n, 'a refund that the owner requested leaves no debt')
  const unspentWorth = (order.priceKopecks * (whole - after.charged)) / whole
  const money = back?.amount ?? 0n
  ensure(
    money <= unspentWorth,
    `the refund is at most the unspent part (${money} of ${unspentWorth})`,
  )
  const { payments } = await stage.sim(`payments?orderId=${bought.id}`, {}, 'GET')
  const [paid] = payments as { refunded_amount?: { value: string } }[]
  const gone = BigInt((paid?.refunded_amount?.value ?? '0.00').replace('.', ''))
  ensure(gone === money, `the provider returned the same amount (${gone} of ${money})`)
  return {
    requests: REQUESTS,
    admitted,
    returned: back === undefined ? 0 : 1,
    busy: refunded === 'busy' ? 1 : 0,
    spentFirst: refunded === 'spent' ? 1 : 0,
  }
}

/** The whole payment is refunded at the provider while programs with the key keep spending. */
async function forced(race: Race) {
  const { stage, vendor, url } = race
  const bought = await owned(race, REQUESTS)
  vendor.clear()
  vendor.mode({
    fault: `usage-input=${INPUT_BOUND} usage-output=${OUTPUT_TOKENS} headers-ms=150`,
  })
  const watch = watchBook(race, bought.book)
  // The worker handles the notification within a second, while requests run.
  const [admitted] = await Promise.all([
    spend(race, bought.key, 1_500),
    stage.sim('refund', { orderId: bought.id }),
  ])
  await stage.untilState(bought.id, 'refunded')
  await watch.stop()
  const after = await settled(race, bought.book)
  ensure(after.available === 0n, `no credits of the pack are left (${after.available})`)
  ensure(
    after.debt === after.charged,
    `the debt equals what was spent (${after.debt} of ${after.charged})`,
  )
  ensure((await ask(url, bought.key)) === 402, 'requests get 402')
  if (after.debt > 0n) await coverDebt(race, bought, after.debt)
  return { requests: REQUESTS, admitted, returned: 1, debts: after.debt > 0n ? 1 : 0 }
}

/** Buys too small a pack, which leaves a part of the debt, and then one that covers the rest. */
async function coverDebt(race: Race, { book, key }: Owned, debt: bigint): Promise<void> {
  const { stage, url } = race
  const topUp = async (amount: Credits) => {
    const { id } = await stage.buy(book, { pack: { ...usualPack, id: 'more', credits: amount } })
    await stage.sim('pay', { orderId: id })
    ensure((await stage.payments.check(id)).state === 'credited', 'the next pack is credited')
  }
  await topUp(credits(1))
  const less = await stage.ledger.balance(book)
  ensure(less?.debt === debt - credits(1) && less.available === 0n, 'a purchase pays debt first')
  ensure((await ask(url, key)) === 402, 'requests get 402 while a debt is left')
  await topUp((less.debt + credits(WORST)) as Credits)
  const more = await stage.ledger.balance(book)
  ensure(
    more?.debt === 0n && more.available === credits(WORST),
    'the next pack covers exactly the debt',
  )
  ensure((await ask(url, key)) === 200, 'requests are served after the debt is paid')
}
