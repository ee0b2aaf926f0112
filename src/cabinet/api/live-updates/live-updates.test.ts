// Live updates over HTTP: a change reaches the open pages within two seconds. The time
// is checked only with FULL=1.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PASSWORD } from '../../../../test/stages/accounts.ts'
import {
  type CabinetBrowser,
  type CabinetStage,
  createCabinetStage,
} from '../../../../test/stages/cabinet.ts'
import type { Home, KeyState, NewKey, Order, RecentRequests } from '../../contract/contract.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())

const isFull = process.env.FULL === '1'
/** 2 s, plus five times the duration of a request: on a busy machine polls take longer too. */
const LIMIT_MS = 2_000
const EXTRA_REQUESTS = 5
const WAIT_MS = 30_000

type Event = { name: string; json: unknown }

/** Opens a stream, as a page does, and collects its events. */
async function listen(own: CabinetBrowser, zone = 'UTC') {
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
    /** Waits for the first event `name`, from index `from` on, that `matches` accepts. */
    async next<T>(name: string, matches: (json: T) => boolean, from = 0): Promise<T> {
      const timer = setTimeout(() => wake(), WAIT_MS)
      const endsMs = performance.now() + WAIT_MS
      try {
        while (performance.now() < endsMs) {
          const found = events
            .slice(from)
            .find((one) => one.name === name && matches(one.json as T))
          if (found !== undefined) return found.json as T
          if (state.isOver) break
          await state.wake.promise
        }
      } finally {
        clearTimeout(timer)
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

test('a new stream gets the whole state at once', async () => {
  const own = await at.stage.person('opens')
  await own.expectOk('POST /api/orders', { pack: 'pack-35m', method: 'card', attempt: 'one' })
  const page = await listen(own, 'Europe/Moscow')
  assert.match(page.response.headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.match(page.response.headers.get('cache-control') ?? '', /no-store/)
  const home = await page.next<Home>('home', () => true)
  assert.deepEqual([home.nextStep, home.zone], ['buy', 'Europe/Moscow'])
  await page.next<KeyState>('key', ({ state }) => state === 'locked')
  await page.next<RecentRequests>('requests', ({ total }) => total === '0')
  await page.next<Order>('order', ({ state }) => state === 'pending')
  page.leave()
})

const soon = isFull ? ' within 2 s' : ''
test(`a payment, a key and a request reach every page of the account${soon}`, async () => {
  const { person, buyPack, spend } = at.stage
  const own = await person('changes')
  const pages = [await listen(own), await listen(own)]
  for (const page of pages) await page.next('requests', () => true)

  const expectEvent = async (
    name: string,
    matches: (json: never) => boolean,
    action: () => Promise<unknown>,
  ) => {
    const from = pages.map(({ events }) => events.length)
    await action()
    const startedMs = performance.now()
    await own.expectOk('GET /api/home')
    const doneMs = performance.now()
    await Promise.all(pages.map((page, i) => page.next(name, matches, from[i])))
    const tookMs = performance.now() - doneMs
    const allowedMs = LIMIT_MS + EXTRA_REQUESTS * (doneMs - startedMs)
    assert.ok(!isFull || tookMs < allowedMs, `${name} took ${Math.round(tookMs)} ms`)
  }
  await expectEvent(
    'order',
    ({ state }: Order) => state === 'credited',
    () => buyPack(own),
  )
  await expectEvent(
    'key',
    ({ state }: KeyState) => state === 'active',
    async () => {
      const { body } = await own.expectOk<NewKey>('POST /api/key')
      await own.expectOk(`POST /api/key/${body.id}/confirm`)
    },
  )
  await expectEvent(
    'requests',
    ({ latest }: RecentRequests) => latest[0]?.credits.exact === '1234',
    () => spend(own.book, 1_234),
  )
  for (const page of pages) {
    await page.next<Home>('home', ({ nextStep }) => nextStep === 'done')
    page.leave()
  }
})

test('signing out ends only the stream of that browser', async () => {
  const { person, browser } = at.stage
  const own = await person('leaves')
  const other = browser()
  await other.expectOk('POST /api/auth/sign-in/email', { email: own.email, password: PASSWORD })
  const [mine, theirs] = [await listen(own), await listen(other)]
  await theirs.next('home', () => true)
  await own.expectOk('POST /api/auth/sign-out')
  await mine.next<{ why: string }>('end', ({ why }) => why === 'session')
  await mine.over()
  await at.stage.buyPack(other)
  await theirs.next<Home>('home', ({ nextStep }) => nextStep === 'key')
  theirs.leave()
})

test('an account can have eight streams; closed ones no longer count', async () => {
  const own = await at.stage.person('many')
  const pages = await Promise.all(Array.from({ length: 8 }, () => listen(own)))
  for (const page of pages) await page.next('home', () => true)
  assert.equal(await own.refusal('GET /api/live'), '429 streams_exceeded')
  for (const page of pages) page.leave()
  await Promise.all(pages.map((page) => page.over()))
  for (let tries = 0; tries < 200; tries += 1) {
    const again = await listen(own)
    again.leave()
    if (again.response.status === 200) return
  }
  assert.fail('closed streams still count')
})

test('a server that stops sends the event `end` before it closes the stream', async () => {
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
