// Step 4: the worst case of the request is held before it goes upstream. If the balance cannot
// comfortably cover the max_tokens asked, the hold is smaller and max_tokens is lowered to what it
// covers; only when not even a small reply fits is the request refused.
import type { HoldAsk } from '../ledger/ledger.ts'
import { isRefusal, Refusal } from '../platform/refusal.ts'
import {
  affordableMaxTokens,
  type CacheControl,
  floorCase,
  iterationsMax,
  worstCase,
} from '../pricing/pricing.ts'
import type { Credits } from '../units/credits.ts'
import { type Tokens, tokens } from '../units/tokens.ts'
import type { MessageRequest } from '../wire/draft.ts'
import type { Authenticated, Exchange, Parsed, Reserved } from './exchange.ts'
import type { Rooms } from './rooms.ts'

/** Refuses: feature_unpriced, and whatever ledger.hold refuses. */
export async function reserve(
  exchange: Exchange,
  caller: Authenticated,
  parsed: Parsed<MessageRequest>,
  { ledger, keys, limits }: Pick<Rooms, 'ledger' | 'keys' | 'limits'>,
): Promise<Reserved> {
  const { model, request, catalogue } = parsed
  const ask = {
    model,
    inputBound: inputBoundOf(parsed),
    cacheControl: request.shape.cacheMark as CacheControl,
    maxTokens: tokens(request.maxTokens),
    thinkingBudget: tokens(request.thinkingBudget),
  }
  const worst = worstCase(ask)
  const mayClamp = exchange.incoming.headers['x-credit-clamp'] !== 'off'
  const floor = mayClamp ? floorCase(ask) : worst
  const tariff = await ledger.tariff({
    catalogueVersion: catalogue.version,
    model: model.id,
    price: model.price,
  })
  const { book, fence } = caller
  const asked = { id: exchange.id, book, tariff, fence, worst, floor }
  const granted = await hold(asked, exchange, caller, { ledger, keys, limits })
  return { book, tariff, granted, loweredMaxTokens: lowered(ask, worst, granted) }
}

async function hold(
  asked: HoldAsk,
  { address }: Exchange,
  { plain }: Authenticated,
  { ledger, keys, limits }: Pick<Rooms, 'ledger' | 'keys' | 'limits'>,
): Promise<Credits> {
  try {
    return (await ledger.hold(asked)).granted
  } catch (error) {
    if (!isRefusal(error, 'key_revoked')) throw withAddress(error, limits.cabinetUrl)
    // The fence was raised since this key was remembered. Asking anew tells a reissued key, which
    // is refused, from one that is still in force behind a newer fence.
    keys.forget(plain)
    const { fence } = await keys.verify(plain, address)
    return (await ledger.hold({ ...asked, fence })).granted
  }
}

// A feature that runs the model several times is priced as so many full context windows.
function inputBoundOf({ model, bound }: Parsed<MessageRequest>): Tokens {
  let passes = 1
  for (const feature of bound.unbounded) {
    const most = iterationsMax(model, feature)
    if (most === undefined) {
      throw new Refusal('feature_unpriced', `${feature}: not available for this model here`)
    }
    passes = Math.max(passes, most)
  }
  return passes === 1 ? bound.inputBound : tokens(model.contextWindow * BigInt(passes))
}

function lowered(
  ask: Parameters<typeof worstCase>[0],
  worst: Credits,
  granted: Credits,
): number | undefined {
  if (granted >= worst) return undefined
  const affordable = affordableMaxTokens({ ...ask, granted })
  // The floor covers the input, so what was granted does too.
  return affordable === undefined || affordable >= ask.maxTokens ? undefined : Number(affordable)
}

/** Says where credits can be bought: the refusal is read by people, through their programs. */
function withAddress(error: unknown, cabinetUrl: string): unknown {
  if (!isRefusal(error, 'credits_insufficient') && !isRefusal(error, 'debt_outstanding')) {
    return error
  }
  const sentence = `${error.message} Buy credits at ${cabinetUrl}`
  return new Refusal(error.code, sentence, error.detail, error)
}
