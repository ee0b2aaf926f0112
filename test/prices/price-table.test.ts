// A table for an accountant: what is held for a request and what is charged for its reply, in
// credits, for every dimension of a price alone and for those that stack. The figures are written
// out; the product and a second, independent calculation must both arrive at them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCatalogue } from '../../src/pricing/catalogue.ts'
import { toolLimits, worstCase } from '../../src/pricing/pricing.ts'
import { snapshotOf } from '../../src/pricing/versions.ts'
import { creditsText, micro } from '../../src/units/credits.ts'
import { tokens } from '../../src/units/tokens.ts'
import {
  type PlainRequest,
  type PlainUsage,
  plainCharge,
  plainHold,
  plainModels,
} from '../support/plain-prices.ts'
import { tableCatalogue } from './catalogue.ts'
import { passRows } from './pass-rows.ts'
import { meterReply, usageJson } from './reply.ts'
import { tokenRows } from './token-rows.ts'

const rows = [...tokenRows, ...passRows]

const parsed = parseCatalogue(tableCatalogue)
assert.ok('catalogue' in parsed, 'problems' in parsed ? parsed.problems.join() : '')
const catalogue = snapshotOf(parsed.catalogue)
const plain = plainModels(tableCatalogue)

test('has at least 60 rows, each with a name of its own', () => {
  assert.ok(rows.length >= 60, `${rows.length} rows`)
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length)
})

for (const row of rows) {
  test(`${row.model}: ${row.name}`, () => {
    const request: PlainRequest = {
      ...{ inputBound: 2_000, maxTokens: 200, cache: 'none', asked: {}, features: [] },
      ...row.request,
    }
    const usage: PlainUsage = { values: {}, uses: {}, hidden: [], ...row.usage }
    const model = catalogue.modelById.get(row.model)
    assert.ok(model !== undefined)
    const held = worstCase({
      model,
      inputBound: tokens(request.inputBound),
      maxTokens: tokens(request.maxTokens),
      cacheControl: request.cache,
      asked: request.asked,
      features: request.features,
      tools: toolLimits(model, request.tools ?? [], true),
      others: catalogue.models,
    })
    const { priced } = meterReply(catalogue, row.model, usageJson(usage))
    assert.deepEqual([creditsText(held), creditsText(priced)], [row.held, row.charged])
    assert.equal(held, plainHold(plain, row.model, request))
    assert.equal(priced, plainCharge(plain, row.model, usage))
    assert.ok(priced <= held, `${creditsText(micro(priced - held))} credits above the hold`)
  })
}
