// The table of endings in docs/charging.md: each row is a journey, and the entry that it leaves
// costs what the row says and has the name that the row gives, in both languages.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { statementWords } from '../../../../src/cabinet/api/statement/words.ts'
import { systemClock } from '../../../../src/platform/clock.ts'
import { createTestGateway, type TestGateway } from '../../../stages/gateway.ts'
import { type Caller, createCaller } from '../caller.ts'
import { question } from '../client.ts'

const docs = join(import.meta.dirname, '../../../../docs')

/** The rows of the table whose last heading is given. */
function rowsOf(page: string, heading: string): string[][] {
  const lines = readFileSync(join(docs, page), 'utf8').split('\n')
  const from = lines.findIndex((line) => line.endsWith(`| ${heading} |`)) + 2
  const rows = lines.slice(from, lines.indexOf('', from))
  return rows.map((row) => row.split('|').slice(1, -1)).map((cells) => cells.map((c) => c.trim()))
}

const rows = rowsOf('charging.md', 'the statement says')
const rowsInRussian = rowsOf('ru/charging.md', 'в выписке')

const turned = { ms: 0 }
let gateway: TestGateway
before(async () => {
  const clock = { ...systemClock, spanMs: () => systemClock.spanMs() + turned.ms }
  gateway = await createTestGateway({ clock, limits: { requestSecondsMax: 86_400 } })
})
after(() => gateway.end())

function stream(caller: Caller, fault: string) {
  const body = question(`[[reply: text 40]] [[fault: ${fault}]]`, { stream: true })
  return caller.send({ body })
}

async function leave(caller: Caller, fault: string, isStream = true): Promise<void> {
  const body = question(`[[fault: ${fault}]]`, { stream: isStream })
  const sent = caller.send({ body })
  await caller.upstream(() => true)
  await wait(50)
  sent.disconnect()
}

/** Disconnects while the request waits for its hold. */
async function leaveBeforeItIsSent(caller: Caller, own: TestGateway): Promise<void> {
  await own.database.db.transaction(async (tx) => {
    await tx.query('select from books where id = $1 for update', [caller.book])
    const sent = caller.send({ body: question() })
    while (own.upstreams.waiting.totals.used === 0) await wait(5)
    sent.disconnect()
    await wait(50)
  })
  // Until the hold is there, the statement is empty.
  while ((await own.ledger.statement({ book: caller.book, beforeSeq: null, limit: 10 })).length < 2)
    await wait(10)
}

/** Turns the clock until a client that reads nothing is cut off. */
async function readNothing({ book, key }: Caller, { port, ledger }: TestGateway): Promise<void> {
  const body = question('[[fault: huge=24000000]]', { stream: true })
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.pause()
  const head = ['POST /v1/messages HTTP/1.1', 'host: gateway', `x-api-key: ${key}`]
  const more = ['content-type: application/json', `content-length: ${body.length}`, '', body]
  socket.write([...head, ...more].join('\r\n'))
  for (let i = 0; i < 60; i++) {
    await wait(500)
    turned.ms += 61_000
    const entries = await ledger.statement({ book, beforeSeq: null, limit: 10 })
    if (entries.length > 1) break
  }
  socket.destroy()
}

type Journey = (caller: Caller, gateway: TestGateway) => Promise<unknown>

const journeys: Record<string, Journey> = {
  'the reply is complete': (caller) => caller.ask({ body: question() }),
  'the request is refused, by us or by the upstream': (caller) =>
    caller.ask({ body: question('[[fault: status=400]]') }),
  'the upstream fails, before or during the reply': (caller) => stream(caller, 'fin-at=900').answer,
  'the gateway is stopped before the reply ends': async (caller, own) => {
    await stream(caller, 'silence-after=5').head
    await own.drain({ idleMs: 0, limitMs: 0 })
  },
  'the gateway is overloaded and ends the request': async (caller, own) => {
    await stream(caller, 'silence-after=5').head
    own.closeAll('shed')
  },
  'the gateway fails': (caller, own) => {
    own.upstreams.conversationOf = () => {
      throw new Error('a fault')
    }
    return caller.ask({ body: question() })
  },
  'you close a stream before its end': async (caller) => {
    const sent = stream(caller, 'silence-after=9')
    await sent.until((bytes) => bytes.includes('text_delta'))
    sent.disconnect()
  },
  'you read a stream too slowly': readNothing,
  'you close a connection that waits for a plain reply': (caller) =>
    leave(caller, 'headers-ms=300', false),
  'you disconnect before the request was sent upstream': leaveBeforeItIsSent,
  'you disconnect before a stream begins, and it begins within ten seconds': (caller) =>
    leave(caller, 'headers-ms=300 pace-ms=400'),
  'you disconnect before a stream begins, and it does not': (caller) =>
    leave(caller, 'headers-ms=forever'),
}
/** These end the gateway that they run on. */
const endsGateway = /^the gateway /

test('each row has a journey, in both languages', () => {
  assert.deepEqual(
    rows.map(([ending]) => ending),
    Object.keys(journeys),
  )
  assert.equal(rowsInRussian.length, rows.length)
})

for (const [i, [ending = '', cost = '', says]] of rows.entries()) {
  test(`${ending}: ${cost}`, async () => {
    const own = endsGateway.test(ending) ? await createTestGateway() : gateway
    const caller = await createCaller(own)
    await journeys[ending]?.(caller, own)
    const [entry] = await caller.entries()
    assert.ok(entry?.ending)
    assert.equal(statementWords.en.endings[entry.ending], says)
    assert.equal(statementWords.ru.endings[entry.ending], rowsInRussian[i]?.[2])
    assert.equal(entry.amount === 0n, cost.startsWith('nothing'), `${entry.amount}`)
    assert.ok(entry.details?.totalMs !== undefined)
    caller.end()
    if (own !== gateway) await own.end()
  })
}
