// The same promise over real processes: cabinet, gateway, worker and `op` run as operators start
// them, at the most verbose log level, and everything that they print is searched too.
import { rm } from 'node:fs/promises'
import {
  createJourneyStage,
  type JourneyStage,
  PASSWORD,
} from '../../journeys/support/cabinet-stage.ts'
import { createCabinetBrowser } from '../../stages/cabinet.ts'
import { ensure, sleep } from '../../support/drill.ts'
import { runProgram } from '../../support/run-to-end.ts'
import type { Place } from '../leaks/leaks.ts'
import { ADDRESS, LOCAL, NAME, TOLD } from './life.ts'
import { allPlaces, findPerson } from './search.ts'

const WORDS = [ADDRESS, LOCAL, NAME]
const WAIT_MS_MAX = 120_000

/** How many places named the person before, and how many lines of log were searched. */
export async function eraseOverProcesses(): Promise<{ before: number; logLines: number }> {
  const stage = await createJourneyStage()
  const printedByOp: string[] = []
  const op = async (...args: string[]) => {
    const command = ['op', '--yes', '--as', 'olga', ...args]
    const { code, out, err } = await runProgram(command, { env: stage.settings })
    // What a person reads on the terminal names the customer; log lines are JSON.
    printedByOp.push(
      `${out}\n${err}`
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .join('\n'),
    )
    return { code, all: `${out}\n${err}` }
  }
  const programs = Object.entries(stage.processes)
  const logs = (): Place[] => [
    ...programs.map(([name, { printed }]) => ({ name: `log of ${name}`, text: printed() })),
    { name: 'log of op', text: printedByOp.join('\n') },
  ]
  const search = async () => findPerson(await allPlaces(stage.db, [stage.directory], logs()), WORDS)
  try {
    const account = await live(stage, op)
    const before = await search()
    ensure(before.length > 3, `before the erasure the search finds the person (${before.length})`)
    const inLogs = before.filter(({ place }) => place.startsWith('log'))
    ensure(inLogs.length === 0, `no log names the person: ${JSON.stringify(inLogs)}`)
    const why = ['--reason', TOLD]
    const begun = await op('close', ADDRESS, '--forfeit', ...why)
    ensure(begun.code === 0, `op close: ${begun.all}`)
    const endMs = Date.now() + WAIT_MS_MAX
    for (let last = await op('erase', account, ...why); last.code !== 0; ) {
      ensure(Date.now() < endMs, `op erase: ${last.all}`)
      await sleep(1_000)
      last = await op('erase', account, ...why)
    }
    const places = await allPlaces(stage.db, [stage.directory], logs())
    // What the customer called a request stays in charge logs for ledger.chargeLogDays.
    const left = findPerson(places, WORDS).filter(
      ({ place, what }) => !(/charges-/.test(place) && what === LOCAL),
    )
    ensure(left.length === 0, `after the erasure nothing is found: ${JSON.stringify(left)}`)
    const planted = logs().map(({ name, text }) => ({ name, text: `${text}{"to":"${ADDRESS}"}` }))
    const found = new Set(findPerson(planted, WORDS).map(({ place }) => place))
    ensure(found.size === planted.length, `a planted line is found in every log (${found.size})`)
    const logLines = logs().reduce((sum, { text }) => sum + text.split('\n').length, 0)
    return { before: before.length, logLines }
  } finally {
    await stage.end()
  }
}

type Op = (...args: string[]) => Promise<{ readonly code: unknown; readonly all: string }>

async function live(stage: JourneyStage, op: Op): Promise<string> {
  const own = createCabinetBrowser(stage.url, stage.url)
  const consents = [{ document: 'offer', version: '2026-11-01' }]
  const person = { email: ADDRESS, password: PASSWORD, language: 'ru', consents }
  await own.expectOk('POST /api/auth/register', person)
  const { links } = await stage.newestEmail(ADDRESS, 'confirm-email')
  const code = links.find((one) => one.includes('#code='))?.split('#code=')[1]
  await own.expectOk('POST /api/auth/confirm', { code, password: PASSWORD })
  const order = { pack: 'pack-35m', method: 'card', attempt: 'first' }
  const { body } = await own.expectOk<{ id: string }>('POST /api/orders', order)
  await stage.sim('pay', { orderId: body.id })
  await stage.newestEmail(ADDRESS, 'payment-credited')
  const { body: key } = await own.expectOk<{ id: string; plain: string }>('POST /api/key')
  await own.expectOk(`POST /api/key/${key.id}/confirm`)
  const wrong = createCabinetBrowser(stage.url, stage.url)
  await wrong.send('POST /api/auth/sign-in/email', { email: ADDRESS, password: `not ${LOCAL}` })
  await wrong.send('POST /api/auth/request-password-reset', { email: ADDRESS })
  await wrong.send('POST /api/auth/register', { email: ADDRESS, password: 1 })
  for (const label of [ADDRESS, LOCAL]) {
    const response = await fetch(`${stage.apiUrl}/v1/messages`, {
      method: 'POST',
      headers: {
        ...{ 'x-api-key': key.plain, 'content-type': 'application/json', 'x-credit-label': label },
        'user-agent': `${NAME} <${ADDRESS}>`,
      },
      body: JSON.stringify({
        ...{ model: 'model-small', max_tokens: 64, metadata: { user_id: ADDRESS } },
        messages: [{ role: 'user', content: `I am ${NAME}, ${ADDRESS}` }],
      }),
    })
    ensure(response.status === 200, `a request succeeds (${await response.text()})`)
  }
  const why = ['--reason', TOLD]
  await op('find', ADDRESS)
  await op('grant', ADDRESS, '100', ...why)
  await op('suspend', ADDRESS, ...why)
  await op('unsuspend', ADDRESS, ...why)
  await op('refund', body.id, '--amount', '10.00', ...why)
  await op('export', ADDRESS, '--file', `${stage.directory}/export.json`, ...why)
  const { rows } = await stage.db.query('select id from accounts where email = $1', [ADDRESS])
  await rm(`${stage.directory}/export.json`)
  return (rows[0] as { id: string }).id
}
