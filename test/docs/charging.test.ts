// The worked examples of docs/charging.md, in both languages, cost what the program would charge by
// the prices of the full example catalogue.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseCatalogue } from '../../src/pricing/catalogue.ts'
import { priceReply } from '../../src/pricing/pricing.ts'
import { exampleTurn, turnsAffordable } from '../../src/pricing/turns.ts'
import { credits, creditsText } from '../../src/units/credits.ts'
import { noTokens, tokens } from '../../src/units/tokens.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const parsed = parseCatalogue(read('catalogue.full.example.yaml'))
assert.ok('catalogue' in parsed)
const { models } = parsed.catalogue

/** The cells of every row below a heading that names a model. */
function examplesOf(page: string, heading: string): string[][] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return section
    .split('\n')
    .filter((line) => /^\| .*`model-/.test(line))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()))
}

const whole = (cell: string) => Number(cell.replaceAll(/[^\d]/g, '') || 0)

/** Credits by the product's own arithmetic, from the cells of a row. */
function creditsOf([
  ,
  id = '',
  input = '',
  read = '',
  write = '',
  output = '',
  more = '',
]: string[]) {
  const model = models.find((one) => `\`${one.id}\`` === id)
  assert.ok(model, `${id} is in the catalogue`)
  const value = (name: string) => new RegExp(`\`${name}: (\\w+)\``).exec(more)?.[1]
  const searches = Number(/`web_search` × (\d+)/.exec(more)?.[1] ?? 0)
  const counts = {
    ...noTokens,
    input: tokens(whole(input)),
    cacheRead: tokens(whole(read)),
    cacheWrite5m: tokens(whole(write)),
    output: tokens(whole(output)),
  }
  const values = { speed: value('speed'), inference_geo: value('inference_geo') }
  const { priced, unlisted } = priceReply(model, {
    counts,
    values,
    uses: { web_search: searches },
    hidden: [],
  })
  assert.deepEqual(unlisted, [], `${id} has every price of the example`)
  return creditsText(priced)
}

const pages = [
  ['docs/charging.md', 'Worked examples'],
  ['docs/ru/charging.md', 'Примеры'],
] as const
for (const [path, heading] of pages) {
  test(`the examples of ${path} cost what they say`, () => {
    const examples = examplesOf(read(path), heading)
    assert.equal(examples.length, 6)
    for (const cells of examples) {
      assert.equal(creditsOf(cells), String(whole(cells.at(-1) ?? '')), cells.join(' | '))
    }
  })

  test(`${path} says what a turn is, and how many a pack covers`, () => {
    const page = read(path)
    const turn = examplesOf(page, heading)[1] ?? []
    const { input, cacheRead, cacheWrite5m, output } = exampleTurn
    const expected = [input, cacheRead, cacheWrite5m, output].map(Number)
    assert.deepEqual(turn.slice(2, 6).map(whole), expected)
    const [base] = models
    assert.ok(base)
    const turns = turnsAffordable(base, credits(35_000_000))
    const shown = String(turns).replace(/\B(?=(?:\d{3})+$)/g, '[\\s,]')
    assert.match(page, new RegExp(`35[\\s,]000[\\s,]000[^.]* ${shown} `))
  })
}
