// The stage of the usage page: an owner who bought a pack, a few requests through the real gateway,
// and a window that is signed in.
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { catalogueWithPricedModel } from '../../support/priced-model.ts'
import { question } from '../gateway/client.ts'
import { createSiteStage } from './site-stage.ts'

export const MODELS = ['model-large', 'model-small'] as const
/** Charged requests of two models, all with cached tokens, and one that the upstream refused. */
const ASKED = [
  [MODELS[0], '[[reply: text 30]]'],
  [MODELS[1], '[[reply: text 7]]'],
  [MODELS[0], '[[reply: unicode 11]]'],
  [MODELS[1], '[[fault: status=400]]'],
] as const
/** Requests that the gateway itself refuses: two for their model, one for its fields. */
export const UNSERVED = [{ model: 'none' }, { model: 'none' }, { temperature: 9 }] as const
const SYSTEM = [{ type: 'text', text: 'a '.repeat(400), cache_control: { type: 'ephemeral' } }]

export type UsageStage = Awaited<ReturnType<typeof createUsageStage>>

export async function createUsageStage() {
  const site = await createSiteStage({ catalogueText: await catalogueWithPricedModel() })
  const own = await site.person('spender')
  await site.buyPack(own)
  const key = await site.keyOf(own.book)

  async function ask(model: string, words: string, more: object = {}): Promise<void> {
    const response = await fetch(`${site.gatewayUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: question(words, { model, system: SYSTEM, ...more }),
    })
    await response.arrayBuffer()
  }

  /** The ledger's own entries of requests, newest first. */
  async function entries() {
    const all = await site.ledger.statement({ book: own.book, beforeSeq: null, limit: 100 })
    return all.filter(({ kind }) => kind === 'charge' || kind === 'void')
  }

  for (const [model, words] of ASKED) await ask(model, words)
  // The gateway answers a refusal before it writes the entry.
  while ((await entries()).length < ASKED.length) await pause(20)
  // Refused before a hold: these leave no entry, but are counted.
  for (const more of UNSERVED) await ask(MODELS[0], 'Hello', more)
  await site.ledger.usage.refused.flush()

  return {
    ...site,
    own,
    ask,
    entries,

    /** The owner's page, once its totals and its lines have loaded. */
    async open(page: Page, search = ''): Promise<void> {
      await site.signIn(page, own)
      await page.goto(`${site.url}/usage${search}`)
      await page.getByRole('heading', { name: /^По (моделям|итогам|сессиям|меткам)$/ }).waitFor()
      await page.getByRole('table', { name: 'Запросы, новые сверху' }).waitFor()
    },
  }
}

/** The buttons that open lines of the log. */
export function lines(page: Page) {
  return page.getByRole('button', { name: /расчёт стоимости$/ })
}
