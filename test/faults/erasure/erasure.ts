// A customer lives through everything the service offers while operators name the customer in every
// text they may type. Then the account is closed and erased, and every column, file, e-mail and log
// line is searched for the addresses and the name. Before the erasure, and with planted texts after
// it, the same search must find them.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createActs } from '../../../src/acts/acts.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { Masked } from '../../../src/platform/masked.ts'
import { createOperatorStage, type OperatorStage } from '../../stages/operator.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure } from '../../support/drill.ts'
import { quiet } from '../../support/harness.ts'
import {
  ADDRESS,
  CLAIMED_ADDRESS,
  type Life,
  LOCAL,
  live,
  NAME,
  NEW_ADDRESS,
  PENDING_ADDRESS,
} from './life.ts'
import { eraseOverProcesses } from './processes.ts'
import { allPlaces, type Found, findPerson } from './search.ts'

const WORDS = [
  ADDRESS,
  NEW_ADDRESS,
  PENDING_ADDRESS,
  CLAIMED_ADDRESS,
  LOCAL,
  NAME,
  'forget anna',
  'annaforget',
]
/** The full form repeats the life with other customers beside, whose data must stay. */
const FULL = { others: 20, entries: 12_000 }
const SHORT = { others: 1, entries: 1_200 }

export const drill: Drill = async ({ isFull, say }) => {
  const size = isFull ? FULL : SHORT
  const stage = await createOperatorStage({}, { approveAdjustmentsAbove: 1_000 })
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-erasure-'))
  try {
    const world = { stage, folder, folders: [folder, stage.ledger.spoolDirectory] }
    const others = await neighbours(stage, size.others)
    const life = await live(stage)
    const exported = await exportWhole(world, life, size.entries)
    await refuseWhileNeeded(stage, life)
    await shipActs(world)
    const before = await search(world)
    ensure(before.length > 3, `before the erasure the search finds the person (${before.length})`)
    await erase(stage, life)
    await shipActs(world)
    // What the customer called a request stays in charge logs for ledger.chargeLogDays; an address
    // is not stored even there.
    const places = await allPlaces(stage.db, world.folders, texts(stage))
    const [inLogs, left] = partition(findPerson(places, WORDS), ({ place }) =>
      /charges-/.test(place),
    )
    ensure(left.length === 0, `after the erasure nothing is found:${lines(left)}`)
    const addresses = inLogs.filter(({ what }) => what !== LOCAL)
    ensure(addresses.length === 0, `charge logs hold no address:${lines(addresses)}`)
    for (const name of await readdir(stage.ledger.spoolDirectory)) {
      if (name.startsWith('charges-')) await rm(join(stage.ledger.spoolDirectory, name))
    }
    const kept = new Set(findPerson(places, others).map(({ what }) => what))
    ensure(kept.size === others.length, 'who was not erased is still there')
    const planted = await plant(world)
    if (isFull) {
      const real = await eraseOverProcesses()
      say(`over real processes: ${real.before} places before, 0 after, ${real.logLines} log lines`)
    }
    say(`${before.length} places named the person before, 0 after; ${planted} planted were found`)
    return { places: places.length, before: before.length, after: 0, planted, exported }
  } finally {
    await stage.end()
    await rm(folder, { recursive: true, force: true })
  }
}

/** There are operators, and none of them can sign in: every one of them hears what is typed. */
const op = (stage: OperatorStage, args: readonly string[], answer?: string) =>
  stage.op([...args, '--break-glass', `${NAME} <${ADDRESS}> waits`], answer)

type World = {
  readonly stage: OperatorStage
  readonly folder: string
  readonly folders: readonly string[]
}

/** What the programs logged and exposed; the cabinet's stage logs at level trace. */
const texts = (stage: OperatorStage) => [
  { name: 'log', text: stage.lines.join('\n') },
  { name: 'fatal log', text: stage.fatal.join('\n') },
]

const search = async ({ stage, folders }: World): Promise<Found[]> =>
  findPerson(await allPlaces(stage.db, folders, texts(stage)), WORDS)

function partition<T>(all: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  return [all.filter(test), all.filter((one) => !test(one))]
}

const lines = (found: readonly Found[]): string =>
  found.map(({ place, what, around }) => `\n  ${what} in ${place}: …${around}…`).join('')

async function neighbours(stage: OperatorStage, count: number): Promise<string[]> {
  const emails: string[] = []
  for (let i = 0; i < count; i += 1) emails.push((await stage.person(`boris.stays${i}`)).email)
  return emails
}

/** The file of `op export` has every entry, is readable by its owner only, and is deleted here. */
async function exportWhole({ stage, folder }: World, life: Life, entries: number): Promise<number> {
  await stage.db.query(
    `with made as (
       update books set seq = seq + $2 where id = $1
       returning seq, available + held - debt as balance
     )
     insert into entries (book_id, seq, amount, balance, at, day, kind, contra, hold_id, ending,
       priced, written_off)
     select $1, seq - n, 0, balance, now(), (now() at time zone 'UTC')::date, 'void', 'none',
       gen_random_uuid(), 'client_left', 0, 0
     from made, generate_series(0, $2 - 1) as n`,
    [life.book, entries],
  )
  const file = join(folder, 'export.json')
  const args = ['export', life.account, '--file', file, '--reason', `${NAME} asked`, '--yes']
  const { code, all } = await op(stage, args)
  ensure(code === 0, `op export writes the file: ${all}`)
  ensure(((await stat(file)).mode & 0o777) === 0o600, 'only its writer may read the file')
  const copy = JSON.parse(await readFile(file, 'utf8')) as {
    ledger: { entries: unknown[]; isComplete: boolean }
    isWhole: boolean
    formerEmails: { email: string }[]
  }
  ensure(copy.isWhole && copy.ledger.isComplete, 'the file says that nothing is missing')
  ensure(copy.ledger.entries.length > entries, `every entry is there (${entries} and more)`)
  const mode = await op(stage, [...args])
  ensure(mode.code === 1, 'a file that exists is not overwritten')
  await rm(file)
  return copy.ledger.entries.length
}

/** An open account, and one whose data is still needed, is not erased. */
async function refuseWhileNeeded(stage: OperatorStage, life: Life): Promise<void> {
  const open = await stage.person('open.account')
  const refused = await op(stage, ['erase', open.email, '--reason', 'a test', '--yes'])
  ensure(/op close/.test(refused.err), `an open account is closed first: ${refused.all}`)
  const waiting = await op(stage, ['erase', life.account, '--reason', 'a test', '--yes'])
  ensure(/wait to be sent/.test(waiting.err), `its letters wait: ${waiting.all}`)
  for (let i = 0; i < 20; i += 1) await stage.payments.jobs.applyNotification()
  await stage.db.query(
    `update letters set state = 'sent', body_text = null, body_html = null, ended_at = now(),
       leased_until = null
     where state = 'queued'`,
  )
}

async function erase(stage: OperatorStage, life: Life): Promise<void> {
  const args = ['erase', life.account, '--reason', `${NAME}, ${ADDRESS}, wrote a letter`]
  const { code, all } = await op(stage, args, NEW_ADDRESS)
  ensure(code === 0, `op erase: ${all}`)
  // Whoever is erased is unknown from then on, so that a name typed later stays as it is.
  const again = await stage.op([
    ...['erase', life.account, '--reason', 'asked again', '--yes'],
    ...['--break-glass', 'asked again'],
  ])
  ensure(/erased before/.test(again.out), 'a second erasure changes nothing')
  const [act] = (await stage.acts()).filter(({ detail }) => detail.endsWith('is erased'))
  ensure(
    act?.command ===
      `erase ${life.account} --reason '${life.account}, ${life.account}, wrote a letter' ` +
        `--break-glass '${life.account} <${life.account}> waits'`,
    `the act names the account and nobody: ${act?.command}`,
  )
}

async function shipActs({ stage, folder }: World): Promise<void> {
  const acts = createActs({
    ...{ db: stage.db, clock: systemClock, log: quiet, shipSecret: new Masked('none') },
    ...{ shipTo: `file:${join(folder, 'acts.jsonl')}`, shipSeconds: 5, checkSeconds: 60 },
  })
  ensure((await acts.ship()) > 0, 'acts are sent to their copy')
}

/** Plants the person in each kind of place; the same search must find each of them. */
async function plant(world: World): Promise<number> {
  const { stage, folder } = world
  await stage.db.query('create schema other')
  await stage.db.query('create table other.planted (one text, two jsonb, three bytea, four text)')
  await stage.db.query('insert into other.planted values ($1, $2, $3, $4)', [
    `to ${ADDRESS.toUpperCase()}`,
    { deep: [{ name: NAME }] },
    Buffer.from(NEW_ADDRESS),
    encodeURIComponent(ADDRESS),
  ])
  await writeFile(join(folder, 'planted'), Buffer.from(`x${ADDRESS}`).toString('base64'))
  stage.lines.push(`{"msg":"planted","to":"${ADDRESS}"}`)
  await stage.db.query(
    `insert into letters (kind, recipient, subject, body_text, body_html)
     values ('planted', $1, '', '', '')`,
    [ADDRESS],
  )
  const found = new Set((await search(world)).map(({ place }) => place))
  const columns = ['one', 'two', 'three', 'four'].map((one) => `database other.planted.${one}`)
  const expected = [...columns, 'database public.letters.recipient', 'file planted', 'log']
  for (const place of expected) ensure(found.has(place), `the planted person is found in ${place}`)
  ensure(found.size === expected.length, `only the planted are found (${[...found]})`)
  return found.size
}
