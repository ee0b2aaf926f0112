// Tests of op vendor-bill: files and reports are compared with the entries of the day, and kept.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startVendor } from '../../stand-ins/vendor/vendor.ts'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'
import { createLedgerCustomer } from '../../test/support/ledger-customer.ts'
import { systemClock } from '../platform/clock.ts'
import { Masked } from '../platform/masked.ts'
import { createVendorBill } from '../vendor-bill/vendor-bill.ts'

const at = { stage: undefined as unknown as OperatorStage, directory: '' }
const today = new Date().toISOString().slice(0, 10)
const DAY_MS = 86_400_000
const PRICES = `currency: USD
kopecksPerUnit: 9600
models:
  - { name: model, input: 3, output: 15 }
`

before(async () => {
  at.stage = await createOperatorStage()
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-bill-'))
  await writeFile(join(at.directory, 'vendor.yaml'), PRICES)
  // Two requests of 29 and 1 tokens: 58 and 2.
  const { db, ledger } = at.stage
  const customer = await createLedgerCustomer({ ...ledger, db } as never)
  for (const _ of [1, 2]) await customer.settle(await customer.hold(100), 30)
})
after(async () => {
  await at.stage.end()
  await rm(at.directory, { recursive: true, force: true })
})

/** The path of a report that bills this. */
async function report(input: number, output: number): Promise<string> {
  const result = {
    ...{ model: 'model', uncached_input_tokens: input, output_tokens: output },
    ...{ cache_read_input_tokens: 0, server_tool_use: { web_search_requests: 0 } },
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  }
  const next = new Date(Date.parse(today) + DAY_MS).toISOString().slice(0, 10)
  const bucket = { starting_at: `${today}T00:00:00Z`, ending_at: `${next}T00:00:00Z` }
  const page = { data: [{ ...bucket, results: [result] }], has_more: false, next_page: null }
  return file('usage.json', JSON.stringify(page))
}

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(at.directory, name), text)
  return join(at.directory, name)
}

const vendor = () => ['--vendor', join(at.directory, 'vendor.yaml')]

test('says that no day was compared yet', async () => {
  const { code, out } = await at.stage.op(['vendor-bill', 'list'])
  assert.deepEqual([code, out], [0, 'no day was compared yet'])
})

test('ties: prints the money of the day, stores it, exits with 0', async () => {
  const { code, out } = await at.stage.op([
    'vendor-bill',
    'import',
    await report(58, 2),
    ...vendor(),
  ])
  const lines = out.split('\n')
  assert.equal(lines[0], '2 lines tie')
  // 58 × 3 and 2 × 15 millionths of a dollar are 0.000204 dollars, 1.9584 kopecks; 60 credits.
  assert.match(out, new RegExp(`^${today} +model +60 +\\d+\\.\\d\\d +0\\.02 +-?\\d+\\.\\d$`, 'm'))
  assert.equal(lines.at(-1), `${today} compared: nothing differs`)
  assert.equal(code, 0)
  const done = (await at.stage.acts()).at(-1)
  assert.deepEqual([done?.outcome, done?.detail], ['done', `${today} compared: nothing differs`])
  const list = await at.stage.op(['vendor-bill', 'list'])
  assert.match(list.out, new RegExp(`^${today} .* file +2 +0 +0 +0\\.00$`, 'm'))
})

test('finds one token: names the line, exits with 1', async () => {
  const path = await report(58, 3)
  const { code, out } = await at.stage.op(['vendor-bill', 'import', path, '--all', ...vendor()])
  assert.equal(code, 1)
  assert.match(out, /model +input +58 +58 +0 +0 +ties$/m)
  assert.match(out, /model +output +3 +2 +0 +1 +DIFFERS$/m)
  assert.match(out, /compared: 1 lines differ; 1 days are above the threshold$/)
  const list = await at.stage.op(['vendor-bill', 'list'])
  assert.equal(list.code, 1)
  // One output token of 0.219 thousandths: 15 of 219.
  assert.match(list.out, /file +2 +1 +0 +6\.84 +ABOVE$/m)
  const { days } = await at.stage.json<{ days: { differenceKopecks: string }[] }>(
    ...['vendor-bill', 'import', path, ...vendor()],
  )
  assert.equal(days[0]?.differenceKopecks, '1')
})

test('without prices the cost is unknown, and the worst dimension counts', async () => {
  const { out } = await at.stage.op(['vendor-bill', 'import', await report(58, 3)])
  assert.match(out, /model +60 +\S+ +\? +\?$/m)
  assert.match((await at.stage.op(['vendor-bill', 'list'])).out, / 33\.33 +ABOVE$/m)
})

test('shows what the cost report says', async () => {
  const bucket = { starting_at: `${today}T00:00:00Z`, ending_at: `${today}T23:59:59Z` }
  const results = [{ amount: '0.0204', currency: 'USD', model: null, description: null }]
  const page = { data: [{ ...bucket, results }], has_more: false, next_page: null }
  const costs = await file('costs.json', JSON.stringify(page))
  const given = ['vendor-bill', 'import', await report(58, 2), '--costs', costs, ...vendor()]
  const { out } = await at.stage.op(given)
  assert.match(out, /the cost report says 0\.02 RUB, 0\.02 by our prices/)
})

test('refuses what is not a report, and no file without a configured one', async () => {
  const bad = await at.stage.op(['vendor-bill', 'import', await file('bad.csv', 'a,b\n')])
  assert.deepEqual([bad.code, /there is no column usage_date_utc/.test(bad.err)], [1, true])
  assert.equal((await at.stage.op(['vendor-bill', 'import'])).code, 2)
  assert.equal((await at.stage.op(['vendor-bill', 'import', 'nowhere.json'])).code, 2)
})

function billAt(url: string, key: string) {
  return createVendorBill({
    ...{ db: at.stage.db, clock: systemClock, ledger: at.stage.ledger, url },
    ...{ pricing: at.stage.pricing, key: new Masked(key), upstreams: 'all', alarmPercent: 1 },
    vendorPricesFile: 'none',
  })
}

test('compares only the days that it asked for, whatever the vendor sends', async () => {
  const server = createServer(async (_, reply) => {
    reply.end(await readFile(await report(58, 2)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const ties = await billAt(`http://127.0.0.1:${port}`, 'sk-key').fetchAndCompare(undefined)
  server.closeAllConnections()
  server.close()
  // The report is of today, which is not over yet.
  const days = [3, 2, 1].map((n) => new Date(Date.now() - n * DAY_MS).toISOString().slice(0, 10))
  assert.deepEqual(
    ties.map(({ day }) => day),
    days,
  )
})

test('asks the vendor itself when no file is named; no error has the credential', async () => {
  const standIn = await startVendor()
  const day = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10)
  standIn.bill.plant({ day, model: 'model', output_tokens: 4 })
  const bill = (key: string) => billAt(standIn.url, key)
  try {
    const changes = { vendorBill: bill(standIn.reportKey) }
    const { code, out } = await at.stage.op(['vendor-bill', 'import'], undefined, changes)
    assert.equal(code, 1)
    assert.match(out, new RegExp(`^${day} +model +output +4 +0 +0 +4 +DIFFERS$`, 'm'))
    assert.equal((await at.stage.db.query('select from vendor_bills')).rows.length, 4)
    await assert.rejects(bill('sk-wrong-key').compareLately(), (error: Error) => {
      assert.match(error.message, /the vendor's report answered with 401/)
      return !error.message.includes('sk-wrong-key')
    })
    assert.deepEqual((await bill('none').status()).age_seconds, undefined)
  } finally {
    await standIn.close()
  }
})

/** A report of one day with these rows. */
async function reportOf(day: string, results: object[]): Promise<string> {
  const next = new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10)
  const bucket = { starting_at: `${day}T00:00:00Z`, ending_at: `${next}T00:00:00Z` }
  const page = { data: [{ ...bucket, results }], has_more: false, next_page: null }
  return file('day.json', JSON.stringify(page))
}

test('a day for which the report has no row differs by all that we counted', async () => {
  const path = await reportOf(today, [])
  const { code, out } = await at.stage.op(['vendor-bill', 'import', path])
  assert.equal(code, 1)
  assert.match(out, /model +input +0 +58 +0 +-58 +DIFFERS$/m)
})

test('refuses a day that has not begun, which would hide the days of the alarm', async () => {
  const result = {
    ...{ model: 'model', uncached_input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0 },
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  }
  const path = await reportOf('2099-01-01', [result])
  const { code, err } = await at.stage.op(['vendor-bill', 'import', path])
  assert.notEqual(code, 0)
  assert.match(err, /2099-01-01: this day has not begun/)
})
