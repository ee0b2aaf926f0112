// op catalogue margin, and apply with a vendor price list: a loss is shown and refused, and applied
// only with an explicit word that the record keeps.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'

const at = { stage: undefined as unknown as OperatorStage, directory: '' }
before(async () => {
  at.stage = await createOperatorStage()
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-margin-'))
})
after(async () => {
  await at.stage.end()
  await rm(at.directory, { recursive: true, force: true })
})

const root = join(import.meta.dirname, '../../..')
const full = join(root, 'catalogue.full.example.yaml')
const vendor = join(root, 'vendor-prices.example.yaml')

/** The full example with one price changed. */
async function planted(price: string, lower: string): Promise<string> {
  const text = await readFile(full, 'utf8')
  assert.ok(text.includes(price))
  const path = join(at.directory, 'planted.yaml')
  await writeFile(path, text.replace(price, lower))
  return path
}

test('shows no loss in the full example, and what each price leaves', async () => {
  const margin = ['catalogue', 'margin', '--catalogue', full, '--vendor', vendor]
  const { code, out } = await at.stage.op(margin)
  assert.equal(code, 0, out)
  assert.match(out, /^model-nano +output +64\.75 +38\.40 +40\.6$/m)
  assert.match(out, /^model-base +web_fetch use +0\.00 +0\.00 +-$/m)
  assert.match(out, /^486 prices: 0 below cost, 0 with an unknown cost$/m)
  assert.doesNotMatch(out, /LOSS/)
  const all = await at.stage.op([...margin, '--all', '--model', 'model-large'])
  assert.match(all.out, /^model-large +output .* above=100000 speed=fast inference_geo=us/m)
  assert.doesNotMatch(all.out, /model-nano/)
})

test('marks a loss with a word, in red on a terminal with colours, and exits with 1', async () => {
  const path = await planted('cacheRead: 1,', 'cacheRead: 0.7,')
  const margin = ['catalogue', 'margin', '--catalogue', path, '--vendor', vendor]
  const plain = await at.stage.op(margin)
  assert.equal(plain.code, 1)
  assert.match(plain.out, /^model-grand +cache read +90\.65 +96\.00 +-6\.0 +LOSS$/m)
  const red = await at.stage.op(margin, undefined, {}, { hasColours: true })
  const lines = red.out.split('\n').filter((line) => line.includes('\u001b[31m'))
  assert.ok(lines.length > 0 && lines.every((line) => line.includes('LOSS')))
  const said = await at.stage.json<{ losses: number; lines: { verdict: string }[] }>(...margin)
  assert.ok(said.losses > 0)
  assert.ok(said.lines.some(({ verdict }) => verdict === 'loss'))
})

test('needs a readable vendor list, and compares the prices in force by default', async () => {
  const none = await at.stage.op(['catalogue', 'margin'])
  assert.deepEqual([none.code, /--vendor <file>/.test(none.err)], [2, true])
  const bad = join(at.directory, 'bad.yaml')
  await writeFile(bad, 'currency: USD\nmodels: []\n')
  const wrong = await at.stage.op(['catalogue', 'margin', '--vendor', bad])
  assert.equal(wrong.code, 1)
  assert.match(wrong.err, /bad\.yaml: line 1, kopecksPerUnit: is missing\n.*models: expected at/)
  const inForce = await at.stage.op(['catalogue', 'margin'], undefined, {
    vendorPricesFile: vendor,
  })
  assert.match(inForce.out, /^model-large +input +33\.00 +\d+\.00 +-\d.* LOSS/m)
  const strange = await at.stage.op(['catalogue', 'margin', '--vendor', vendor, '--model', 'none'])
  assert.match(strange.err, /the catalogue has no model none/)
})

for (const [kind, price, lower, loss] of [
  ['weight', 'input: 10\n', 'input: 7\n', /model-grand +input .* LOSS/],
  ['tier', 'coefficient: 37.5', 'coefficient: 27', /model-large +output .* LOSS +above=100000/],
  ['multiplier', 'fast: 2', 'fast: 1.4', /model-grand +input .* LOSS +speed=fast/],
  ['tool use', 'perUse: 10000', 'perUse: 7000', /model-base +web_search use .* LOSS/],
  ['cache', 'cacheWrite1h: 20', 'cacheWrite1h: 14', /model-grand +cache write 1h .* LOSS/],
] as const) {
  test(`apply refuses a planted loss: ${kind}`, async () => {
    const path = await planted(price, lower)
    const before = await at.stage.acts()
    const { code, err } = await at.stage.op(['catalogue', 'apply', path, '--vendor', vendor], 'y')
    assert.equal(code, 1)
    assert.match(err, /^refused: \d+ prices are below cost$/m)
    assert.match(err, loss)
    assert.equal((await at.stage.pricing.refresh())?.version, 1)
    assert.equal((await at.stage.acts()).length, before.length)
  })
}

test('applies a loss only with the explicit word, which the record keeps', async () => {
  const path = await planted('perUse: 10000', 'perUse: 7000')
  const settings = { vendorPricesFile: vendor }
  assert.equal((await at.stage.op(['catalogue', 'apply', path], 'y', settings)).code, 1)
  const none = await at.stage.op(['catalogue', 'apply', path, '--vendor', 'none'], 'y', settings)
  assert.deepEqual([none.code, none.err], [2, 'none cannot be read: ENOENT'])
  const sold = await at.stage.op(['catalogue', 'apply', path, '--sell-below-cost'], 'y', settings)
  assert.equal(sold.code, 0, sold.err)
  assert.match(sold.err, /LOSS/)
  const done = (await at.stage.acts()).findLast(({ outcome }) => outcome === 'done')
  assert.match(done?.command ?? '', /^catalogue apply \S+ --sell-below-cost$/)
  assert.match(done?.detail ?? '', /; \d+ prices are below cost, on purpose$/)
})

test('apply says when margin was not checked, and which costs are unknown', async () => {
  const unchecked = await at.stage.op(['catalogue', 'apply', full], 'n')
  assert.match(unchecked.err, /^margin was not checked: there is no vendor price list$/m)
  const text = await readFile(vendor, 'utf8')
  const partial = join(at.directory, 'partial.yaml')
  await writeFile(partial, text.replace('  web_search: 0.01\n', ''))
  const { err, code } = await at.stage.op(['catalogue', 'apply', full, '--vendor', partial], 'y')
  assert.equal(code, 0, err)
  assert.match(err, /^no known price is below cost; 12 costs are unknown$/m)
  assert.match(err, /model-base +web_search use +1295\.00 +\? +\? +unknown/)
})
