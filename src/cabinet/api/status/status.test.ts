// The public status: what the page and the feed say, also when the database does not answer.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type CabinetStage, createCabinetStage } from '../../../../test/stages/cabinet.ts'
import { readXml, type XmlElement } from '../../../../test/support/xml.ts'
import type { Status } from '../../contract/status.ts'
import { feedText } from './feed.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())
beforeEach(() => at.stage.db.query(`update status_components set next_at = '2026-01-01'`))

/** What a visitor reads, past the memory of ten seconds. */
async function read(): Promise<Status> {
  await at.stage.status.refresh()
  const { body } = await at.stage.browser().expectOk<Status>('GET /api/status')
  return body
}
const stateOf = ({ parts }: Status, name: string) => parts.find(({ part }) => part === name)?.state

/** Writes what a process of the gateway records every few seconds. */
async function seen(target: string, state: string): Promise<void> {
  await at.stage.db.query(
    `insert into upstream_views (instance, target, state, under_way, succeeded, failed, seen_at)
     values (1, $1, $2, 0, 0, 0, clock_timestamp())
     on conflict (instance, target) do update
     set state = excluded.state, seen_at = excluded.seen_at`,
    [target, state],
  )
}

test('nothing is shown as working before a probe has seen it', async () => {
  const status = await read()
  assert.deepEqual(
    status.parts.map(({ part }) => part),
    ['gateway', 'models', 'payments', 'letters'],
  )
  assert.ok(status.parts.every((one) => one.state === 'unmeasured' && one.days.length === 0))
})

test('without a key models are not measured, unless every upstream is out', async () => {
  await seen('secret-name#1', 'closed')
  assert.equal((await at.stage.status.probe('models'))?.state, 'unmeasured')
  await seen('secret-name#1', 'open')
  await at.stage.db.query(`update status_components set next_at = '2026-01-01'`)
  assert.equal((await at.stage.status.probe('models'))?.state, 'failed')
  assert.doesNotMatch(JSON.stringify(await read()), /secret-name/)
})

test('a gateway that does not answer is down after two probes', async () => {
  assert.equal((await at.stage.status.probe('gateway'))?.state, 'failed')
  assert.equal(await at.stage.status.probe('gateway'), undefined, 'it is not due')
  assert.equal(stateOf(await read(), 'gateway'), 'slow')
  await at.stage.db.query(`update status_components set next_at = '2026-01-01'`)
  await at.stage.status.probe('gateway')
  const status = await read()
  assert.equal(stateOf(status, 'gateway'), 'down')
  assert.deepEqual(
    status.outages.map(({ part, to }) => [part, to]),
    [['gateway', null]],
  )
})

test('payments are paused, never asked, slow or failed by the numbers of the watch', async () => {
  const sweep = (seconds: number, failures: number) =>
    at.stage.db.query(
      `insert into payment_sweeps (provider, shop, watermark, swept_at, failures)
       values ('yookassa', $1, ledger_now(), ledger_now() - make_interval(secs => $2), $3)
       on conflict (provider, shop) do update
       set swept_at = excluded.swept_at, failures = excluded.failures`,
      [at.stage.provider.shopRef, seconds, failures],
    )
  const probe = async () => {
    await at.stage.db.query(`update status_components set next_at = '2026-01-01'`)
    return (await at.stage.status.probe('payments'))?.state
  }
  assert.equal(await probe(), 'unknown')
  await sweep(1, 1)
  assert.equal(await probe(), 'working')
  await sweep(600, 0)
  assert.equal(await probe(), 'slow')
  await sweep(20, 2)
  assert.equal(await probe(), 'failed')
})

test('e-mails fail when the relay does not answer, whatever waits', async () => {
  assert.equal((await at.stage.status.probe('letters'))?.state, 'failed')
})

test('a thousand visitors are one read; without the database they see the last one', async () => {
  const { db } = at.stage.database
  const counted = { reads: 0, isAway: false }
  const own = at.stage.openStatus({
    ...db,
    snapshot: async (work) => {
      counted.reads += 1
      if (counted.isAway) throw new Error('the database is away')
      return db.snapshot(work)
    },
  })
  counted.isAway = true
  assert.equal(await own.lastKnown(), undefined, 'nothing was ever read')
  counted.isAway = false
  counted.reads = 0
  const seen = await Promise.all(Array.from({ length: 1_000 }, () => own.lastKnown()))
  assert.equal(counted.reads, 1)
  counted.isAway = true
  await own.refresh()
  assert.equal((await own.lastKnown())?.at, seen[0]?.at)
})

test('the feed is well-formed Atom with what RFC 4287 requires, in both languages', async () => {
  await at.stage.db.query(
    `insert into status_incidents (kind, components, title_ru, title_en, begins_at, opened_by)
     values ('incident', '{gateway,models}', 'Сбой <b>& "кавычки"', 'Outage <b>& "quotes"',
       clock_timestamp(), 'olga')`,
  )
  await at.stage.db.query(
    `insert into status_incident_updates (incident_id, state, text_ru, text_en, written_by)
     select id, 'investigating', 'Смотрим ]]> 😀', 'Looking ]]> 😀', 'olga' from status_incidents`,
  )
  await at.stage.status.refresh()
  const allIds: string[] = []
  for (const [query, word] of [
    ['', 'Сбой: Сбой <b>& "кавычки"'],
    ['?lang=en', 'Incident: Outage <b>& "quotes"'],
  ] as const) {
    const response = await fetch(`${at.stage.url}/status.xml${query}`)
    assert.equal(response.headers.get('content-type'), 'application/atom+xml; charset=utf-8')
    const text = await response.text()
    const feed = readXml(text)
    const names = feed.children.map(({ name }) => name)
    for (const name of ['id', 'title', 'updated', 'author', 'link']) assert.ok(names.includes(name))
    const entries = feed.children.filter(({ name }) => name === 'entry')
    assert.ok(entries.length >= 2)
    const ids = entries.map((entry) => textIn(entry, 'id'))
    allIds.push(textIn(feed, 'id'), ...ids)
    for (const entry of entries) {
      assert.match(textIn(entry, 'updated'), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.match(textIn(entry, 'content'), /^<p>/)
    }
    assert.ok(entries.some((entry) => textIn(entry, 'title') === word))
    const etag = response.headers.get('etag') ?? ''
    const again = await fetch(response.url, { headers: { 'if-none-match': etag } })
    assert.equal(again.status, 304)
  }
  // A reader that has subscribed to both must not take one for a change of the other.
  assert.equal(new Set(allIds).size, allIds.length)
})

function textIn(entry: XmlElement, name: string): string {
  return entry.children.find((one) => one.name === name)?.text ?? ''
}

test('a feed of nothing is a feed, and no text can break one', () => {
  const empty = { at: '2026-11-18T12:00:00.000Z', isCurrent: true, parts: [], outages: [] }
  const options = { cabinetUrl: 'https://cabinet.example?a=1&b=2', brand: { name: 'A & B' } }
  const feedOfNothing = readXml(feedText({ ...empty, incidents: [] }, 'ru', options))
  assert.equal(feedOfNothing.name, 'feed')
  assert.equal(textIn(feedOfNothing, 'updated'), '2026-11-18T00:00:00.000Z')
  const time = '2026-11-18T12:00:00.000Z'
  const title = { ru: 'a\u0000\u0008\ufffe\ud800b', en: '' }
  const text = { ru: '\u001b[31m', en: '' }
  const incident = {
    ...{ id: '1', kind: 'incident' as const, parts: ['gateway' as const], title, from: time },
    ...{ plannedTo: null, to: null, updates: [{ at: time, state: 'watching' as const, text }] },
  }
  const feed = feedText({ ...empty, incidents: [incident] }, 'ru', options)
  assert.equal(readXml(feed).name, 'feed')
})
