// GET /v1/me: the cheapest way to check that a key works. Balance, limits and counts of the
// account; whole credits, rounded down; absent values are null. Reads the primary: no hold will
// tell whether the key is still in force.
import { Fault } from '../../platform/assert.ts'
import type { Model } from '../../pricing/pricing.ts'
import { affordableMaxTokens } from '../../pricing/pricing.ts'
import { type Credits, wholeCredits } from '../../units/credits.ts'
import { tokens } from '../../units/tokens.ts'
import { STOP_SEQUENCES_MAX, TEMPERATURE_MAX } from '../../wire/draft.ts'
import { authenticate } from '../2-authenticate.ts'
import type { Exchange } from '../exchange.ts'
import type { Rooms } from '../rooms.ts'
import { writeJson } from './json.ts'

export async function getMe(exchange: Exchange, rooms: Rooms): Promise<void> {
  const known = await authenticate(exchange, rooms.keys, rooms.limits.slug)
  const caller = await rooms.keys.fresh(known)
  const [book, recent] = await Promise.all([
    rooms.ledger.balance(caller.book),
    rooms.ledger.usage.recent(caller.book),
  ])
  if (book === undefined) throw new Fault(`key ${caller.keyId} has no book ${caller.book}`)
  const total = (book.available + book.held - book.debt) as Credits
  writeJson(exchange, {
    type: 'account',
    balance: {
      available: whole(book.available),
      held: whole(book.held),
      total: whole(total),
      unit: 'credit',
    },
    requests: { total: Number(book.requests), today: Number(recent.requestsToday) },
    spent: { today: whole(book.daySpent), last_30_days: whole(recent.spent30Days) },
    limits: {
      max_body_bytes: rooms.limits.bodyBytesMax,
      stop_sequences_max: STOP_SEQUENCES_MAX,
      temperature_max: TEMPERATURE_MAX,
      daily_credits: book.dayLimit === null ? null : whole(book.dayLimit),
      max_tokens_affordable: affordable(rooms.pricing.current().models, book.available),
    },
    key: { id: caller.keyId, last4: caller.last4, created_at: caller.createdAt.toISOString() },
    last_top_up_at: recent.lastTopUpAt?.toISOString() ?? null,
  })
}

/** What a short question could still have as its reply, by model. */
function affordable(models: readonly Model[], available: Credits): Record<string, number> {
  const ask = { inputBound: tokens(0), cacheControl: 'none' as const, granted: available }
  return Object.fromEntries(
    models.map((model) => [model.id, Number(affordableMaxTokens({ model, ...ask }) ?? 0)]),
  )
}

function whole(amount: Credits): number {
  return Number(wholeCredits(amount))
}
