// Live updates over HTTP: what changes reaches the page, without being asked, within two seconds;
// FULL=1 judges the seconds.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PASSWORD } from '../../../../test/stages/accounts.ts'
import {
  type CabinetStage,
  createCabinetStage,
  type Visitor,
} from '../../../../test/stages/cabinet.ts'
import type { Home, KeyState, NewKey, Order, Requests } from '../../contract/contract.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())

const isFull = process.env.FULL === '1'
/** The promise. On a busy machine a look takes longer too: as long as one was measured to take. */
const PROMISED_MS = 2_000
const LOOKS = 5
const WAIT_MS = 30_000

type Event = { name: string; json: unknown }

/** A page that listens. */
async function listen(own: Visitor, zone = 'UTC') {
  const leaving = new AbortController()
  const response = await fetch(`${at.stage.url}/api/live?zone=${zone}`, {
    headers: own.headers(),
    signal: leaving.signal,
  })
  const events: Event[] = []
  const state = { isOver: false, wake: Promise.withResolvers<void>() }
  const wake = () => {
    state.wake.resolve()
    state.wake = Promise.withResolvers()
  }
  const reading = read(response, events, wake)
    .catch(() => undefined)
    .finally(() => {
      state.isOver = true
      wake()
    })

  return {
    response,
    events,
    /** The first event of a name, from some place on, that is as it should be. */
    async next<T>(name: string, is: (json: T) => boolean, from = 0): Promise<T> {
      const late = setTimeout(() => wake(), WAIT_MS)
      const endsMs = performance.now() + WAIT_MS
      try {
        while (performance.now() < endsMs) {
          const found = events.slice(from).find((one) => one.name === name && is(one.json as T))
          if (found !== undefined) return found.json as T
          if (state.isOver) break
          await state.wake.promise
        }
      } finally {
        clearTimeout(late)
      }
      return assert.fail(`no such ${name} among ${events.map((one) => one.name).join(' ')}`)
    },
    over: () => reading,
    leave: () => leaving.abort(),
  }
}

async function read(response: Response, events: Event[], wake: () => void): Promise<void> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const records = text.split('\n\n')
    text = records.pop() ?? ''
    for (const record of records) {
      const name = /^event: (.*)$/m.exec(record)?.[1]
      const data = /^data: (.*)$/m.exec(record)?.[1]
      if (name !== undefined && data !== undefined) events.push({ name, json: JSON.parse(data) })
    }
    wake()
  }
}

test('a page that opens gets everything at once', async () => {
  const own = await at.stage.person('opens')
  await own.must('POST /api/orders', { pack: 'pack-35m', method: 'card', attempt: 'one' })
  const page = await listen(own, 'Europe/Moscow')
  assert.match(page.response.headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.match(page.response.headers.get('cache-control') ?? '', /no-store/)
  const home = await page.next<Home>('home', () => true)
  assert.deepEqual([home.nextStep, home.zone], ['buy', 'Europe/Moscow'])
  await page.next<KeyState>('key', ({ state }) => state === 'locked')
  await page.next<Requests>('requests', ({ total }) => total === '0')
  await page.next<Order>('order', ({ state }) => state === 'pending')
  page.leave()
})

const soon = isFull ? ' within 2 s' : ''
test(`a payment, a key and a request are on every page of the account${soon}`, async () => {
  const { person, bought, spend } = at.stage
  const own = await person('changes')
  const pages = [await listen(own), await listen(own)]
  for (const page of pages) await page.next('requests', () => true)

  const told = async (name: string, is: (json: never) => boolean, deed: () => Promise<unknown>) => {
    const from = pages.map(({ events }) => events.length)
    await deed()
    const startedMs = performance.now()
    await own.must('GET /api/home')
    const doneMs = performance.now()
    await Promise.all(pages.map((page, i) => page.next(name, is, from[i])))
    const tookMs = performance.now() - doneMs
    const allowedMs = PROMISED_MS + LOOKS * (doneMs - startedMs)
    assert.ok(!isFull || tookMs < allowedMs, `${name} took ${Math.round(tookMs)} ms`)
  }
  await told(
    'order',
    ({ state }: Order) => state === 'credited',
    () => bought(own),
  )
  await told(
    'key',
    ({ state }: KeyState) => state === 'active',
    async () => {
      const { body } = await own.must<NewKey>('POST /api/key')
      await own.must(`POST /api/key/${body.id}/confirm`)
    },
  )
  await told(
    'requests',
    ({ latest }: Requests) => latest[0]?.credits.exact === '1234',
    () => spend(own.book, 1_234),
  )
  for (const page of pages) {
    await page.next<Home>('home', ({ nextStep }) => nextStep === 'done')
    page.leave()
  }
})

test('signing out ends the stream of that browser, and of no other', async () => {
  const { person, visitor } = at.stage
  const own = await person('leaves')
  const other = visitor()
  await other.must('POST /api/auth/sign-in/email', { email: own.email, password: PASSWORD })
  const [mine, theirs] = [await listen(own), await listen(other)]
  await theirs.next('home', () => true)
  await own.must('POST /api/auth/sign-out')
  await mine.next<{ why: string }>('end', ({ why }) => why === 'session')
  await mine.over()
  await at.stage.bought(other)
  await theirs.next<Home>('home', ({ nextStep }) => nextStep === 'key')
  theirs.leave()
})

test('one account holds so many streams and no more, and gives them back', async () => {
  const own = await at.stage.person('many')
  const pages = await Promise.all(Array.from({ length: 8 }, () => listen(own)))
  for (const page of pages) await page.next('home', () => true)
  assert.equal(await own.no('GET /api/live'), '429 streams_exceeded')
  for (const page of pages) page.leave()
  await Promise.all(pages.map((page) => page.over()))
  for (let tries = 0; tries < 200; tries += 1) {
    const again = await listen(own)
    again.leave()
    if (again.response.status === 200) return
  }
  assert.fail('no place became free')
})

test('a server that stops says so, and the page opens a new stream elsewhere', async () => {
  const stage = await createCabinetStage()
  const before = at.stage
  at.stage = stage
  const own = await stage.person('drained')
  const page = await listen(own)
  at.stage = before
  await page.next('home', () => true)
  const closed = stage.end()
  await page.next<{ why: string }>('end', ({ why }) => why === 'server')
  await page.over()
  await closed
})
