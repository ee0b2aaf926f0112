// The calculator of the price page computes what the server charges: generated requests of a model
// with every priced dimension, priced once by the page's arithmetic from the published prices, once
// by the arithmetic of charges from the catalogue.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelPrice } from '../../src/cabinet/api/prices.ts'
import type { ModelPrice } from '../../src/cabinet/contract/prices.ts'
import { parseCatalogue } from '../../src/pricing/catalogue.ts'
import { priceReply } from '../../src/pricing/pricing.ts'
import { tokens } from '../../src/units/tokens.ts'
import { listFor, requestCost } from '../../web/pages/prices/estimate.ts'
import { random } from '../support/drill.ts'
import { catalogueWithPricedModel } from '../support/priced-model.ts'

const REQUESTS = 2_000
const seed = Math.floor(Math.random() * 2 ** 31)

test(`the calculator agrees with ${REQUESTS} charges of each model (seed ${seed})`, async () => {
  const read = parseCatalogue(await catalogueWithPricedModel())
  if ('problems' in read) throw new Error(read.problems.join('\n'))
  const draw = random(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T
  // Sums of these are below, at and above the length at which the second list begins.
  const count = () => BigInt(pick([0, 1, 7, 49_999, 50_000, 99_999, 100_000, 100_001, 654_321]))
  const lists = new Set<string>()
  for (const model of read.catalogue.models) {
    // As the browser receives it.
    const published: ModelPrice = JSON.parse(JSON.stringify(modelPrice(model)))
    for (let i = 0; i < REQUESTS; i += 1) {
      const load = { input: count(), output: count(), cacheRead: count(), cacheWrite: count() }
      const values = {
        speed: pick([undefined, 'fast', 'standard']),
        inference_geo: pick([undefined, 'us', 'global']),
        service_tier: pick([undefined, 'priority', 'standard']),
      }
      const uses = { web_search: pick([0, 1, 10]), code_execution: pick([0, 20]) }
      const { priced, main } = priceReply(model, {
        counts: {
          input: tokens(load.input),
          output: tokens(load.output),
          cacheRead: tokens(load.cacheRead),
          cacheWrite5m: tokens(load.cacheWrite),
          cacheWrite1h: tokens(0),
        },
        ...{ values, uses, hidden: [] },
      })
      const shown = requestCost(published, load, values, {
        web_search: BigInt(uses.web_search),
        code_execution: BigInt(uses.code_execution),
      })
      assert.equal(shown, priced, `${model.id} ${main.list.name} ${Object.values(load)}`)
      assert.equal(listFor(published, load, values).name, main.list.name)
      lists.add(`${model.id} ${main.list.name}`)
    }
  }
  const all = read.catalogue.models.flatMap((model) => model.lists)
  assert.equal(lists.size, all.length, 'every list was reached')
})
