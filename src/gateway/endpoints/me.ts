// GET /v1/me: balance, limits, requests and spending of the account; also the cheapest way to check
// a key. Credits are whole numbers, rounded down; absent values are null. The key is read from the
// database again, because `authenticate` may answer from memory, and there is no hold whose fence
// would show that the key was revoked.
import { Fault } from '../../platform/assert.ts'
import type { Model } from '../../pricing/pricing.ts'
import { affordableMaxTokens } from '../../pricing/pricing.ts'
import { type Credits, wholeCredits } from '../../units/credits.ts'
import { tokens } from '../../units/tokens.ts'
import { STOP_SEQUENCES_MAX, TEMPERATURE_MAX } from '../../wire/draft.ts'
import { authenticate } from '../2-authenticate.ts'
import type { Authenticated, Exchange } from '../exchange.ts'
import type { Modules } from '../modules.ts'
import { writeJson } from './json.ts'

export async function getMe(exchange: Exchange, modules: Modules): Promise<void> {
  const known = await authenticate(exchange, modules.keys, modules.settings.slug)
  const me = await modules.admission.inFreeSlot(exchange, known.book, () => readMe(known, modules))
  writeJson(exchange, me)
}

async function readMe(known: Authenticated, modules: Modules) {
  const caller = await modules.keys.recheck(known)
  const [book, recent] = await Promise.all([
    modules.ledger.balance(caller.book),
    modules.ledger.usage.recent(caller.book),
  ])
  if (book === undefined) throw new Fault(`key ${caller.keyId} has no book ${caller.book}`)
  const total = (book.available + book.held - book.debt) as Credits
  return {
    type: 'account',
    state: modules.ledger.stopOf(book) ?? 'active',
    balance: {
      available: whole(book.available),
      held: whole(book.held),
      total: whole(total),
      unit: 'credit',
    },
    requests: { total: Number(book.requests), today: Number(recent.requestsToday) },
    spent: { today: whole(book.daySpent), last_30_days: whole(recent.spent30Days) },
    limits: {
      max_body_bytes: modules.settings.bodyBytesMax,
      stop_sequences_max: STOP_SEQUENCES_MAX,
      temperature_max: TEMPERATURE_MAX,
      daily_credits: book.dayLimit === null ? null : whole(book.dayLimit),
      max_tokens_affordable: affordable(modules.pricing.current().models, book.headroom),
      turns_affordable: turns(modules.pricing, book.available),
    },
    key: { id: caller.keyId, last4: caller.last4, created_at: caller.createdAt.toISOString() },
    last_top_up_at: recent.lastTopUpAt?.toISOString() ?? null,
  }
}

/**
 * For each model, the largest max_tokens that a request gets in full when its input costs nothing:
 * a hold grants the worst case whenever the headroom covers it.
 */
function affordable(models: readonly Model[], headroom: Credits): Record<string, number> {
  const ask = { inputBound: tokens(0), cacheControl: 'none' as const, granted: headroom }
  return Object.fromEntries(
    models.map((model) => [model.id, Number(affordableMaxTokens({ model, ...ask }) ?? 0)]),
  )
}

/** For each model, the turns of a coding agent that the balance covers (pricing/turns.ts). */
function turns(pricing: Modules['pricing'], available: Credits): Record<string, number> {
  const { models } = pricing.current()
  return Object.fromEntries(
    models.map((model) => [model.id, Number(pricing.turnsAffordable(model, available))]),
  )
}

function whole(amount: Credits): number {
  return Number(wholeCredits(amount))
}
