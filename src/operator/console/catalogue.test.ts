// The catalogue, credentials and alarms of the console over HTTP: what they show, and changes of
// prices with their plan, with two people, and back again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ConsoleStage, createConsoleStage } from '../../../test/stages/console.ts'
import { consoleRoutes } from './console.ts'
import type { Catalogue, VersionChanges } from './contract/catalogue.ts'
import type { CommandAnswer } from './contract/contract.ts'
import type { Alarms, Credential } from './contract/health.ts'

type Plan = Extract<CommandAnswer, { state: 'plan' }>

const at = { stage: undefined as unknown as ConsoleStage, viewer: '', admin: '', other: '' }
before(async () => {
  at.stage = await createConsoleStage({ settings: { approveCatalogue: true } })
  at.viewer = (await at.stage.people.newcomer('viewer', 'viewer')).token
  at.admin = (await at.stage.people.newcomer('admin', 'admin')).token
})
after(() => at.stage.end())

async function read<T>(route: string): Promise<T> {
  const { status, body } = await at.stage.send<T>(route, { token: at.viewer })
  assert.equal(status, 200, route)
  return body
}

const run = (token: string, command: string, args: string[], note?: string, plan?: string) =>
  at.stage.command<CommandAnswer>(
    ...([token, command, args, note === undefined ? {} : { note }, plan] as const),
  )

/** Plans and confirms; the answer's state, or its code. */
async function act(token: string, command: string, args: string[], note?: string) {
  const { body, code } = await run(token, command, args, note)
  if (body.state !== 'plan') return code ?? body.state
  const done = await run(token, command, args, note, body.digest)
  return done.code ?? done.body.state
}

const large = (catalogue: Catalogue) => catalogue.models.find(({ id }) => id === 'model-large')

test('shows prices, a typical request, packs and versions', async () => {
  const catalogue = await read<Catalogue>('GET /api/catalogue')
  const model = large(catalogue)
  assert.deepEqual(model?.price, {
    ...{ input: '1', output: '5', cacheRead: '0.1', cacheWrite5m: '1.25', cacheWrite1h: '2' },
  })
  // 2,000 + 40,000 × 0.1 + 3,000 × 1.25 + 800 × 5 = 13,750 credits.
  assert.deepEqual(model?.typical, {
    ...{ credits: { whole: '13750', exact: '13750' }, least: '45', most: '51' },
  })
  const [pack] = catalogue.packs
  assert.deepEqual([pack?.id, pack?.millionKopecks], ['pack-35m', '3714'])
  assert.equal(catalogue.marginProblem, 'none')
  assert.equal(catalogue.versions[0]?.version, catalogue.version)
  const unknown = await at.stage.send('GET /api/catalogue/99', { token: at.viewer })
  assert.equal(unknown.code, 'thing_unknown')
})

const CACHE = 'cacheRead: 0.03, cacheWrite5m: 0.375, cacheWrite1h: 0.75'
/** An hour in the cache costs more than it brings; the other models have no price there. */
const VENDOR = `currency: USD
kopecksPerUnit: 9600
models:
  - { name: model-large, input: 0.3, output: 1.6, ${CACHE} }
`

test('shows for each model what its worst price leaves', async () => {
  const prices = at.stage.pricing.parseVendorPrices(VENDOR)
  assert.ok('prices' in prices)
  const { modules, brand } = at.stage
  const vendorBill = { ...modules.vendorBill, vendorPrices: async () => prices.prices }
  const routes = consoleRoutes({ modules: { ...modules, vendorBill }, brand })
  const show = routes['GET /api/catalogue'].run as unknown as () => Promise<Catalogue>
  const catalogue = await show()
  assert.equal(catalogue.marginProblem, null)
  const [worst, next] = large(catalogue)?.margins ?? []
  // 2 credits at 33.00 RUB a million bring 66.00; 0.75 USD at 96.00 RUB costs 72.00.
  assert.deepEqual(worst, {
    ...{ sold: 'cache write 1h', list: '', verdict: 'loss' },
    ...{ brings: '6600', costs: '7200', tenths: '-91' },
  })
  assert.deepEqual([next?.sold, next?.tenths], ['output', '69'])
  const small = catalogue.models.find(({ id }) => id === 'model-small')
  assert.equal(small?.margins[0]?.verdict, 'unknown')
})

test('changes a price and goes back, and each version says who, why and what', async () => {
  const change = ['models.model-large.coefficient=6']
  const planned = await run(at.admin, 'catalogue set', change, 'dearer')
  const plan = (planned.body as Plan).lines.join('\n')
  assert.match(plan, /coefficient 5 → 6/)
  assert.match(plan, /a typical request 13750 credits.* → 14550 credits/)
  assert.equal(await act(at.admin, 'catalogue set', change, 'dearer'), 'done')
  const now = await read<Catalogue>('GET /api/catalogue')
  assert.equal(large(now)?.price.output, '6')
  const version = await read<VersionChanges>(`GET /api/catalogue/${now.version}`)
  assert.deepEqual([version.note, version.isInForce], ['dearer', true])
  assert.match(version.by, /^admin \(opr_/)
  assert.deepEqual(
    version.typical.map(({ model, before, after }) => [
      ...[model, before?.credits.exact, after?.credits.exact],
    ]),
    [['model-large', '13750', '14550']],
  )
  assert.equal(await act(at.admin, 'catalogue rollback', ['1'], 'a mistake'), 'done')
  assert.equal(large(await read<Catalogue>('GET /api/catalogue'))?.price.output, '5')
})

test('a wrong field is refused by its name, and a change needs its reason', async () => {
  const wrong = ['models.model-large.coefficient=0', 'packs.pack-35m.priceKopecks=1,5']
  const { code, body } = await run(at.admin, 'catalogue set', wrong, 'x')
  assert.equal(code, 'command_refused')
  const { message } = (body as unknown as { error: { message: string } }).error
  assert.match(message, /^models\.model-large\.coefficient: expected a number/m)
  assert.match(message, /^packs\.pack-35m\.priceKopecks: expected a whole number/m)
  assert.equal((await run(at.admin, 'catalogue set', wrong)).code, 'field_invalid')
  const file = { note: 'x', vendor: '/etc/passwd' }
  const named = await at.stage.command(at.admin, 'catalogue set', wrong, file)
  assert.equal(named.code, 'field_invalid', 'a browser names no file of the server')
})

test('with a second admin a change waits, and only that person lets it run', async () => {
  at.other = (await at.stage.people.newcomer('other', 'admin')).token
  const before = (await read<Catalogue>('GET /api/catalogue')).version
  const change = ['packs.pack-35m.priceKopecks=140000']
  assert.equal(await act(at.admin, 'catalogue set', change, 'dearer'), 'asked')
  assert.equal((await read<Catalogue>('GET /api/catalogue')).version, before)
  const { body } = await at.stage.send<{ approvals: { id: string }[] }>('GET /api/approvals', {
    token: at.other,
  })
  const id = body.approvals[0]?.id ?? ''
  assert.equal(await act(at.admin, 'approvals approve', [id]), 'command_refused')
  assert.equal(await act(at.other, 'approvals approve', [id]), 'done')
  const packs = (await read<Catalogue>('GET /api/catalogue')).packs
  assert.equal(packs[0]?.priceKopecks, '140000')
})

test('shows credentials without secrets, and alarms with their runbooks', async () => {
  const { credentials } = await read<{ credentials: Credential[] }>('GET /api/credentials')
  assert.deepEqual(
    credentials.map(({ target, state, models }) => [target, state, models]),
    [
      ['east#1', 'unseen', []],
      ['west#1', 'unseen', []],
    ],
  )
  assert.ok(!JSON.stringify(credentials).includes('secret'))
  const { alarms, unchecked } = await read<Alarms>('GET /api/alarms')
  assert.deepEqual(unchecked, [])
  const silent = alarms.find(({ name }) => name === 'gateway_silent')
  assert.equal(silent?.runbook, 'runbooks#a-process-of-the-gateway-freezes-or-dies')
})
