// Sends requests of every kind to a gateway process that logs at level trace. Afterwards no prompt,
// reply or key, and nothing about our upstream account, may be in the log, the metrics, the
// database, the spool, a header or an error. At the end the program plants a secret in each kind
// of place, and the same search must find all of them.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Db } from '../../../src/platform/db/db.ts'
import { credits } from '../../../src/units/credits.ts'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { freePort } from '../../../tools/free-port.ts'
import { startPostgres } from '../../../tools/postgres.ts'
import { startServed } from '../../stages/served/served.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, sleep } from '../../support/drill.ts'
import {
  createTestDatabase,
  createTestKeys,
  createTestLedger,
  keySettings,
} from '../../support/harness.ts'
import { databasePlaces, filePlaces, findLeaks, type Place, type Secret } from './leaks.ts'
import { type Answer, createTraffic, type Traffic } from './traffic.ts'

/** Response headers in which the upstream describes our account or its own proxies. */
const UPSTREAM_HEADERS =
  /^(?:anthropic-(?:ratelimit|organization|workspace)|x-envoy|cf-|via$|server$|set-cookie$)/i

export const drill: Drill = async ({ say }) => {
  const stage = await createLeakStage()
  try {
    const { traffic, rich, poor } = stage
    await traffic.replies(rich)
    await traffic.upstreamFailures(rich)
    await traffic.refusals(rich, poor)
    const wrong = await wrongKeys(traffic, rich)
    const spooled = await stage.withoutDatabase()
    await stage.stopServing()
    say(`${traffic.answers.length} requests, ${spooled.length} spool files while the database hung`)
    checkTraffic(traffic.answers)
    const logged = requestLines(stage.printed())
    checkRequestLog(logged, traffic.answers)

    const own = secretsOf([rich, poor, ...wrong], stage)
    const replies = replyTexts(traffic.answers)
    ensure(replies.length > 20, `replies were read (${replies.length})`)
    const all = [...own, ...replies, ...traffic.canaries, ...traffic.quotedCanaries]
    const left = await stage.places(spooled)
    const headers = headerPlaces(traffic.answers)
    report(findLeaks([...left, ...headers], all))
    report(findLeaks(bodyPlaces(traffic.answers, 'errors'), [...own, ...traffic.canaries]))
    report(findLeaks(bodyPlaces(traffic.answers, 'replies'), own))
    checkHeaders(traffic.answers)
    const planted = await plant(stage, spooled, all)
    return {
      requests: traffic.answers.length,
      secrets: all.length,
      places: left.length + headers.length + traffic.answers.length,
      logBytes: stage.printed().length,
      requestLines: logged.length,
      metricsBytes: stage.metrics().length,
      leaks: 0,
      planted,
    }
  } finally {
    await stage.end()
  }
}

type Stage = Awaited<ReturnType<typeof createLeakStage>>

async function createLeakStage() {
  const postgres = await startPostgres()
  const database = await createTestDatabase(postgres.url)
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-leaks-'))
  const spoolDirectory = join(directory, 'spool')
  // The log masks values that look like keys; this one does not, so it would appear in full.
  const upstreamKey = `upstream-${randomBytes(18).toString('hex')}`
  const vendor = await startVendor({ keys: [upstreamKey] })
  const account = await upstreamAccount(vendor.url, upstreamKey)
  const { rich, poor } = await customers(database.url, database.db)
  const metricsPort = await freePort()
  const env = {
    DATABASE_URL: database.url,
    DATABASE_LEDGER_DEADLINE_MS: '1000',
    LEDGER_SPOOL_DIRECTORY: spoolDirectory,
    LEDGER_SPOOL_AFTER_MS: '1000',
    LEDGER_HOLD_WAIT_MS: '2000',
    KEYS_TAG_SECRET: keySettings.tagSecret.reveal(),
    KEYS_LOOKUP_SECRET: keySettings.lookupSecret.reveal(),
    KEYS_WRONG_PER_MINUTE: '10',
    UPSTREAM_URL: vendor.url,
    UPSTREAM_KEY: upstreamKey,
    GATEWAY_PORT: '0',
    GATEWAY_BODY_BYTES_MAX: '2000000',
    METRICS_PORT: String(metricsPort),
    LOG_LEVEL: 'trace',
  }
  const gateway = await startServed('serve', env, /"the fleet is ready"/)
  const port = /"port":(\d+).*"the fleet is ready"/.exec(gateway.printed())?.[1]
  const worker = await startServed('work', env, /"working"/)
  const traffic = createTraffic(`http://127.0.0.1:${port}`, { key: upstreamKey, ...account })
  const kept = { metrics: '' }
  const printed = () => gateway.printed() + worker.printed()

  return {
    traffic,
    rich,
    poor,
    upstreamKey,
    account,
    database,
    spoolDirectory,
    printed,
    metrics: () => kept.metrics,

    /** Ends a stream and a new request while the database hangs; returns the spool's files. */
    async withoutDatabase(): Promise<Place[]> {
      const directives = '[[reply: text 60]] [[fault: pace-ms=20]]'
      const streaming = traffic.message('the database hangs', rich, { stream: true }, directives)
      await vendor.until((all) => all.some((one) => one.events > 5 && one.outcome === 'open'))
      postgres.kill('SIGSTOP')
      try {
        await Promise.all([streaming, traffic.message('the database is gone', rich)])
        return (await filePlaces(spoolDirectory)).filter((place) => place.text !== '')
      } finally {
        postgres.kill('SIGCONT')
      }
    },

    async stopServing() {
      await untilSettled(database.db)
      kept.metrics = await metricsOf(metricsPort)
      await gateway.stop()
      await worker.stop()
    },

    places: async (spooled: readonly Place[]): Promise<Place[]> => [
      { name: 'log', text: printed() },
      { name: 'metrics', text: kept.metrics },
      ...(await databasePlaces(database.db)),
      ...spooled,
      ...(await filePlaces(spoolDirectory)),
      ...(await filePlaces(postgres.dataDirectory)).filter(({ name }) => name.endsWith('.log')),
    ],

    async end() {
      await gateway.stop()
      await worker.stop()
      await vendor.close()
      await database.drop()
      await postgres.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** The ids of our upstream account, which the upstream sends in the headers of every answer. */
async function upstreamAccount(url: string, key: string) {
  const { headers } = await fetch(`${url}/v1/models`, { headers: { 'x-api-key': key } })
  const organization = headers.get('anthropic-organization-id') ?? ''
  const workspace = headers.get('anthropic-workspace-id') ?? ''
  ensure(organization !== '' && workspace !== '', 'the stand-in sends the ids of our account')
  return { organization, workspace }
}

async function customers(url: string, db: Db): Promise<{ rich: string; poor: string }> {
  const ledger = await createTestLedger(url)
  const keys = createTestKeys(ledger.db, ledger)
  const open = async (whole: number) => {
    const book = await ledger.createBook(db)
    const posted = { book, kind: 'purchase' as const, ref: `pack ${book}`, amount: credits(whole) }
    await db.transaction((tx) => ledger.credit(tx, { ...posted, contra: 'clearing', note: '' }))
    const issued = await db.transaction((tx) => keys.issue(tx, book))
    await db.transaction((tx) => keys.confirm(tx, book, issued.keyId))
    return issued.plain
  }
  const made = { rich: await open(100_000_000), poor: await open(1) }
  await ledger.end()
  return made
}

/** Sends wrong keys of every kind in every header that may carry a key. Returns the keys. */
async function wrongKeys({ send }: Traffic, right: string): Promise<string[]> {
  const random = (bytes: number) => randomBytes(bytes).toString('base64url')
  const wrong = [
    `not-a-key-${random(30)}`,
    `sk-vendor-api03-${random(51)}`,
    `sk-vendor-03-${random(24)}`,
    `sk-other-api03-${random(51)}`,
    `${right.slice(0, 40)}${random(20)}${right.slice(67)}`,
    `hunter2-${random(12)}`,
  ]
  for (const key of wrong) {
    const about = `a wrong key ${key.slice(0, 12)}`
    await send({ about, headers: { 'x-api-key': key }, body: '{}' })
    await send({
      about,
      path: '/v1/me',
      method: 'GET',
      headers: { authorization: `Bearer ${key}` },
    })
    await send({ about, headers: { authorization: `Basic ${key}` }, body: '{}' })
  }
  await send({ about: 'a right key beside it', headers: { 'x-api-key': right }, body: '{}' })
  return wrong
}

function secretsOf(keys: readonly string[], { upstreamKey, account }: Stage): Secret[] {
  return [
    ...keys.map((text) => ({ what: `a key, ${text.slice(0, 12)}…`, text })),
    { what: 'the upstream key', text: upstreamKey },
    { what: 'the upstream organization', text: account.organization },
    { what: 'the upstream workspace', text: account.workspace },
  ]
}

/** The text, thinking, tool input and signatures of each reply, with stream deltas joined. */
function replyTexts(answers: readonly Answer[]): Secret[] {
  return answers.flatMap(({ about, body }) =>
    ['text', 'thinking', 'partial_json', 'signature'].flatMap((member) => {
      const strings = body.matchAll(new RegExp(`"${member}":("(?:[^"\\\\]|\\\\.)*")`, 'g'))
      const text = [...strings].map((one) => JSON.parse(one[1] ?? '""') as string).join('')
      const pieces = [text.slice(0, 48), text.slice(-48)].filter((piece) => piece.length >= 16)
      return pieces.map((piece) => ({ what: `reply, ${about}`, text: piece }))
    }),
  )
}

function headerPlaces(answers: readonly Answer[]): Place[] {
  return answers.map(({ about, headers }) => ({
    name: `headers, ${about}`,
    text: headers.join('\n'),
  }))
}

function bodyPlaces(answers: readonly Answer[], which: 'errors' | 'replies'): Place[] {
  const isError = ({ status }: Answer) => status !== 200
  return answers
    .filter((answer) => isError(answer) === (which === 'errors'))
    .map(({ about, body }) => ({ name: `body, ${about}`, text: body }))
}

function checkHeaders(answers: readonly Answer[]): void {
  for (const { about, headers } of answers) {
    const names = headers.filter((_, i) => i % 2 === 0)
    const found = names.find((name) => UPSTREAM_HEADERS.test(name))
    ensure(
      found === undefined,
      `no answer has a header about our upstream account (${found}, ${about})`,
    )
  }
}

/** Every expected status occurred; otherwise the search would have too little to look through. */
function checkTraffic(answers: readonly Answer[]): void {
  const statuses = new Set(answers.map((one) => one.status))
  for (const status of [0, 200, 400, 401, 402, 404, 405, 413, 415, 502, 529]) {
    ensure(statuses.has(status), `the traffic has a ${status} (${[...statuses]})`)
  }
  const cleaned = answers.filter((one) => /refused for (?:key|organization) \*\*\*/.test(one.body))
  ensure(cleaned.length === 4, `4 error events arrive with our account masked (${cleaned.length})`)
}

type RequestLine = { readonly line: string; readonly fields: Readonly<Record<string, unknown>> }

/** The lines of the request log. */
function requestLines(printed: string): RequestLine[] {
  return printed
    .split('\n')
    .filter((line) => line.endsWith('"msg":"request"}'))
    .map((line) => ({ line, fields: JSON.parse(line) as Record<string, unknown> }))
}

/** Every request has its line; otherwise the search would not have read what is logged of it. */
function checkRequestLog(lines: readonly RequestLine[], answers: readonly Answer[]): void {
  const omitted = lines.reduce((sum, { fields }) => sum + Number(fields.omitted ?? 0), 0)
  const ids = new Set(lines.map(({ fields }) => fields.request))
  ensure(ids.size === lines.length, 'no request has two lines in the log')
  ensure(
    lines.length + omitted === answers.length,
    `every request has a line in the log (${lines.length} and ${omitted} of ${answers.length})`,
  )
}

function report(leaks: ReturnType<typeof findLeaks>): void {
  const lines = leaks.map(({ place, what, around }) => `\n  ${what} in ${place}: …${around}…`)
  ensure(leaks.length === 0, `no secret leaks: ${leaks.length} found${lines.slice(0, 30).join('')}`)
}

/** Plants a secret in every kind of place; the same search must find each of them. */
async function plant(stage: Stage, spooled: readonly Place[], all: readonly Secret[]) {
  const secret = all.at(-1)
  ensure(secret !== undefined, 'there is a secret to plant')
  const { db } = stage.database
  await db.query('create table planted (one text, two jsonb, three bytea)')
  await db.query('insert into planted values ($1, $2, $3)', [
    secret.text,
    { deep: [secret.text] },
    Buffer.from(secret.text),
  ])
  await writeFile(
    join(stage.spoolDirectory, 'planted'),
    Buffer.from(secret.text).toString('base64'),
  )
  // A line of the request log in which a name from the body would stand in place of the model's id.
  const [written] = requestLines(stage.printed()).filter(({ fields }) => 'model' in fields)
  ensure(written !== undefined, 'a line of the request log names its model')
  const line = `${JSON.stringify({ ...written.fields, model: `an ${secret.text}` })}\n`
  const places = [
    ...(await stage.places(spooled)).map((place) =>
      place.name === 'log' ? { ...place, text: place.text + line } : place,
    ),
    ...headerPlaces([
      { about: 'planted', status: 200, headers: ['x-said', secret.text], body: '' },
    ]),
  ]
  const found = findLeaks(places, all).map((leak) => leak.place)
  const expected = ['log', 'file planted', 'headers, planted']
  const columns = ['one', 'two', 'three'].map((column) => `database public.planted.${column}`)
  for (const place of [...expected, ...columns]) {
    ensure(found.includes(place), `the search finds the planted secret (${place})`)
  }
  ensure(found.length === 6, `the search finds only the six planted secrets (${found})`)
  return found.length
}

async function untilSettled(db: Db): Promise<void> {
  for (let i = 0; i < 400; i++) {
    const { rows } = await db.query(`select from holds where state = 'open'`)
    if (rows.length === 0) return
    await sleep(50)
  }
  ensure(false, 'every hold is closed within 20 s')
}

/** Empty when the port does not answer. */
async function metricsOf(port: number): Promise<string> {
  try {
    return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  } catch {
    return ''
  }
}
