// Tests for credits in roubles: the same figures as the server's, and the dearest pack.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pack } from '../../src/cabinet/contract/contract.ts'
import { credits, creditsText, micro } from '../../src/units/credits.ts'
import { kopecks } from '../../src/units/kopecks.ts'
import { kopecksFor as kopecksOnServer } from '../../src/units/pack-price.ts'
import { dearestOf, kopecksFor } from '../../web/format/roubles.ts'

function packOf(id: string, whole: number, priceKopecks: number): Pack {
  return {
    id,
    name: { ru: id, en: id },
    credits: { whole: String(whole), exact: String(whole) },
    priceKopecks: String(priceKopecks),
    kopecksPerMillion: '0',
    savingPercent: 0,
    methods: [],
  }
}

test('pages and e-mails convert credits to the same roubles', () => {
  for (const [whole, price] of [
    [35_000_000, 130_000],
    [100_000_000, 350_000],
    [7, 3],
  ] as const) {
    const pack = packOf('one', whole, price)
    for (const amount of [0n, 1n, 999_999n, 1_234_567_890_123n, credits(whole) as bigint]) {
      assert.equal(
        kopecksFor(amount, pack),
        String(
          kopecksOnServer(micro(amount), {
            credits: credits(whole),
            priceKopecks: kopecks(price),
          }),
        ),
        `${creditsText(micro(amount))} credits`,
      )
    }
  }
})

test('the dearest pack has the highest price per credit, not the highest price', () => {
  const packs = [
    packOf('large', 300_000_000, 990_000),
    packOf('small', 35_000_000, 130_000),
    packOf('medium', 100_000_000, 350_000),
  ]
  assert.equal(dearestOf(packs)?.id, 'small')
  assert.equal(dearestOf([]), undefined)
})
