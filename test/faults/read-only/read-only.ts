// The database is read-only for a while, and later another server takes over its address: a standby
// is promoted while the old primary still answers its open connections. No answer is a 500, and
// cabinet, e-mail, jobs and gateway recover without help within 15 s of a writable database.
import type { Drill, Figures } from '../../support/drill.ts'
import { ensure, sleep } from '../../support/drill.ts'
import { createTestKeys, createTestLedger, type TestDatabase } from '../../support/harness.ts'
import { type Answer, isRetryLater, isServed, type Kind, type Load, startLoad } from './load.ts'
import { ask } from './servers.ts'
import { createStage, type Stage } from './stage.ts'

const RECOVERED_MS_MAX = 15_000
/** Recovered means: every route was served, and for this long none failed. */
const STEADY_MS = 2_000
/** E-mails and jobs in the queue when the database becomes read-only. */
const UNDER_WAY = 30

type Say = (text: string) => void

export const drill: Drill = async ({ isFull, say }) => {
  const readOnlyMs = isFull ? 60_000 : 5_000
  const stage = await createStage()
  try {
    const load = startLoad(stage)
    await sleep(2_000)
    const calm = load.answers.filter((one) => !isServed(one))
    ensure(calm.length === 0, `every request succeeds before the fault: ${describe(calm)}`)

    const letters = [await queueEmailsAndJobs(stage, stage.database, 'before')]
    await stage.servers.setReadOnly(true)
    await sleep(readOnlyMs)
    await stage.servers.setReadOnly(false)
    const backMs = performance.now()
    const back = await recovered({ stage, load, say }, stage.database, 'back', backMs)

    letters.push(await queueEmailsAndJobs(stage, stage.database, 'moving'))
    await stage.servers.setReadOnly(true)
    await sleep(readOnlyMs / 2)
    await stage.servers.failOver(stage.standby)
    const movedMs = performance.now()
    const moved = stage.openMoved()
    const there = await recovered({ stage, load, say }, moved, 'moved', movedMs)
    const old = await left(stage, load, moved, movedMs)
    await load.stop()

    const figures = { ...summary(load, say), ...back, ...there, ...old }
    check(stage, load, letters.flat(), figures)
    await checkLedger(moved)
    await moved.db.end()
    return figures
  } finally {
    await stage.end()
  }
}

/** Queues e-mails and jobs; returns the recipients of the e-mails. */
async function queueEmailsAndJobs(stage: Stage, { db }: TestDatabase, name: string) {
  const recipients = Array.from({ length: UNDER_WAY }, (_, i) => `${name}-${i}@example.org`)
  for (const recipient of recipients) {
    await postLetter(db, recipient)
    await db.query(`select graphile_worker.add_job('usage')`)
  }
  // Some are then still in the queue when the database becomes read-only.
  await stage.mailbox.wait({ to: recipients[1] ?? '' }, RECOVERED_MS_MAX)
  return recipients
}

async function postLetter(db: TestDatabase['db'], recipient: string): Promise<void> {
  await db.query(
    `with letter as (
       insert into letters (kind, recipient, subject, body_text, body_html)
       values ('drill', $1, 'A drill', 'A drill', '<p>A drill</p>') returning id
     )
     select graphile_worker.add_job(
       'letter', json_build_object('id', letter.id), job_key => 'letter ' || letter.id)
     from letter`,
    [recipient],
  )
}

/** Milliseconds until cabinet, gateway, e-mail and jobs work again. */
async function recovered(
  { stage, load, say }: { stage: Stage; load: Load; say: Say },
  at: TestDatabase,
  name: string,
  sinceMs: number,
) {
  const [cabinet, gateway, letters, jobs] = await Promise.all([
    untilServed(load, 'cabinet', sinceMs),
    untilServed(load, 'gateway', sinceMs),
    untilLetter(stage, at, name, sinceMs),
    untilJob(at, sinceMs),
  ])
  const figures = { cabinet, gateway, letters, jobs }
  say(`${name}: ${JSON.stringify(figures)} ms`)
  return Object.fromEntries(Object.entries(figures).map(([of, ms]) => [`${name} ${of} ms`, ms]))
}

/**
 * All connections leave the old primary, even readers, so the gateway knows a key that the old
 * primary never saw. Only idle ledger connections may stay: their next statement fails and is
 * repeated on a new one.
 */
async function left(stage: Stage, load: Load, moved: TestDatabase, sinceMs: number) {
  const staying = () =>
    ask(
      stage.servers.primary,
      `select string_agg(concat_ws(' ', application_name, state, query), '; ') as value
       from pg_stat_activity
       where backend_type = 'client backend' and datname = '${stage.database.name}'
         and application_name <> 'tollgate test'
         and not (application_name like '% ledger' and state = 'idle')`,
    )
  const leftMs = await msUntil(sinceMs, async () => (await staying()) === null)
  return {
    'left ms': leftMs,
    stays: (await staying()) ?? 'none',
    'status of a new key': await load.statusOf(await issueKey(moved)),
  }
}

async function issueKey({ url, db }: TestDatabase): Promise<string> {
  const ledger = await createTestLedger(url)
  try {
    const book = await ledger.createBook(db)
    const keys = createTestKeys(ledger.db, ledger)
    const issued = await db.transaction((tx) => keys.issue(tx, book))
    await db.transaction((tx) => keys.confirm(tx, book, issued.keyId))
    return issued.plain
  } finally {
    await ledger.end()
  }
}

/** Milliseconds until `look` is true; Infinity if that takes longer than recovery may. */
async function msUntil(sinceMs: number, look: () => Promise<boolean> | boolean): Promise<number> {
  while (performance.now() - sinceMs < RECOVERED_MS_MAX + STEADY_MS) {
    if (await look()) return Math.round(performance.now() - sinceMs)
    await sleep(50)
  }
  return Number.POSITIVE_INFINITY
}

/** The last failure, or the last route's first success, whichever was later. */
async function untilServed({ answers }: Load, kind: Kind, sinceMs: number): Promise<number> {
  const since = () => answers.filter((one) => one.kind === kind && one.askedMs > sinceMs)
  const routes = new Set(answers.filter((one) => one.kind === kind).map(({ route }) => route))
  const lastMs = () => {
    const first = [...routes].map(
      (route) =>
        since().find((one) => one.route === route && isServed(one))?.answeredMs ??
        Number.POSITIVE_INFINITY,
    )
    const failed = since().filter((one) => !isServed(one))
    return Math.max(...first, ...failed.map(({ answeredMs }) => answeredMs))
  }
  await msUntil(sinceMs, () => performance.now() - lastMs() > STEADY_MS)
  return Math.round(lastMs() - sinceMs)
}

async function untilLetter(stage: Stage, { db }: TestDatabase, name: string, sinceMs: number) {
  const to = `after-${name}@example.org`
  await postLetter(db, to)
  return msUntil(sinceMs, () => stage.mailbox.list({ to }).length > 0)
}

async function untilJob({ db }: TestDatabase, sinceMs: number): Promise<number> {
  const { rows } = await db.query(`select id from graphile_worker.add_job('usage')`)
  const { id } = rows[0] as { id: bigint }
  return msUntil(sinceMs, async () => {
    const left = await db.query('select from graphile_worker.jobs where id = $1', [id])
    return left.rows.length === 0
  })
}

function summary({ answers }: Load, say: Say): Figures {
  const counts = new Map<string, number>()
  for (const { kind, status } of answers) {
    counts.set(`${kind} ${status}`, (counts.get(`${kind} ${status}`) ?? 0) + 1)
  }
  const bad = answers.filter((one) => !isServed(one) && !isRetryLater(one))
  for (const line of new Set(bad.map(shown))) say(line)
  return { answers: answers.length, ...Object.fromEntries([...counts].sort()) }
}

const shown = ({ status, route, error }: Answer) =>
  `${status} ${route} ${error.replace(/,"requestId.*|"request_id.*/, '')}`

const describe = (answers: readonly Answer[]) =>
  `${answers.length} not, the first: ${answers.slice(0, 1).map(shown).join('')}`

function check(stage: Stage, load: Load, letters: readonly string[], figures: Figures): void {
  for (const [name, one] of Object.entries(stage.processes)) {
    ensure(one.isAlive(), `${name} has not died: ${one.complaints().slice(-3).join('\n')}`)
  }
  const faults = load.answers.filter(({ status }) => status === 500)
  ensure(faults.length === 0, `no request gets a 500: ${describe(faults)}`)
  const others = load.answers.filter((one) => !isServed(one) && !isRetryLater(one))
  ensure(others.length === 0, `every request is served or gets 503 or 529: ${describe(others)}`)
  ensure(load.answers.some(isRetryLater), 'some requests got 503 or 529')
  for (const [name, ms] of Object.entries(figures)) {
    if (name.endsWith(' ms')) {
      ensure(Number(ms) <= RECOVERED_MS_MAX, `${name} is below ${RECOVERED_MS_MAX}: ${ms}`)
    }
  }
  ensure(figures.stays === 'none', `no connection stays on the old server: ${figures.stays}`)
  const status = figures['status of a new key']
  ensure(status === 200, `the gateway knows a key that the old server never saw: ${status}`)
  const missing = letters.filter((to) => stage.mailbox.list({ to }).length !== 1)
  ensure(missing.length === 0, `every e-mail arrives once: ${missing.join(' ')}`)
}

async function checkLedger(at: TestDatabase): Promise<void> {
  const ledger = await createTestLedger(at.url)
  try {
    const findings = await ledger.audit('all')
    ensure(findings.length === 0, `the audit is empty: ${findings[0]?.rule} ${findings[0]?.detail}`)
  } finally {
    await ledger.end()
  }
}
