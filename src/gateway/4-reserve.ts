// Step 4: holds the worst case of the request before it goes upstream. If that is more than what is
// left of the balance or the daily limit, half of what is left is held, but at least the cost of a
// small reply, and max_tokens and the limits of server tools are lowered to what the hold covers.
// The catalogue's limits of server tools apply always. If what is left does not cover a small reply
// by the bound of bytes, the upstream counts the input; if it does not cover it then, the request
// is refused. With `x-credit-clamp: off` it is the whole worst case or a refusal.
import type { HoldInput, HoldRefusalCode } from '../ledger/ledger.ts'
import { isRefusal, Refusal } from '../platform/refusal.ts'
import { type CacheControl, floorCost, lowerTo, toolLimits, worstCase } from '../pricing/pricing.ts'
import type { Credits } from '../units/credits.ts'
import { type Tokens, tokens } from '../units/tokens.ts'
import { boundByCount, isCountable } from '../wire/bound.ts'
import type { MessageRequest } from '../wire/draft.ts'
import type { ServerTool } from '../wire/shape.ts'
import type { Authenticated, Exchange, Parsed, Reserved } from './exchange.ts'
import { lowerTools, nothingLowered } from './lowering.ts'
import type { Modules } from './modules.ts'
import { refuseUnpriced, valuesOf } from './unpriced.ts'
import { isTemperatureRemoved } from './versions.ts'

type Ask = ReturnType<typeof askOf>

/**
 * Refuses: feature_unpriced, waiting_exhausted, request_shed, and the refusals of ledger.hold.
 */
export async function reserve(
  exchange: Exchange,
  caller: Authenticated,
  parsed: Parsed<MessageRequest>,
  modules: Modules,
): Promise<Reserved> {
  refuseUnpriced(exchange, parsed)
  const { ledger, admission, log } = modules
  const { book } = caller
  return admission.waitFor(
    exchange,
    book,
    () => reserveInPlace(exchange, caller, parsed, modules),
    ({ tariff }) => {
      const { id, requestId } = exchange
      const reason = 'shed while it waited for the database'
      ledger.void({ id, book, tariff, ending: 'shed', reason }).catch((error: unknown) => {
        log.error({ request: requestId, err: error }, 'a hold was not voided')
      })
    },
  )
}

async function reserveInPlace(
  exchange: Exchange,
  caller: Authenticated,
  parsed: Parsed<MessageRequest>,
  modules: Modules,
): Promise<Reserved> {
  const ask = askOf(exchange, parsed)
  try {
    return await holdFor(ask, parsed, exchange, caller, modules)
  } catch (error) {
    const inputBound = await countedBound(error, ask, exchange, caller, parsed, modules)
    if (inputBound === undefined) throw withCabinetUrl(error, modules.settings.cabinetUrl)
    const counted = { ...ask, inputBound }
    return await holdFor(counted, parsed, exchange, caller, modules).catch((again: unknown) => {
      throw withCabinetUrl(again, modules.settings.cabinetUrl)
    })
  }
}

/** What the request is held for. */
function askOf({ clientRequest }: Exchange, parsed: Parsed<MessageRequest>) {
  const { model, request, catalogue } = parsed
  const mayLower = clientRequest.headers['x-credit-clamp'] !== 'off'
  return {
    // The upstream may allow more output than the catalogue says. If max_tokens is not lowered,
    // only the window limits the reply.
    model: mayLower ? model : { ...model, outputCeiling: model.contextWindow },
    inputBound: parsed.bound.inputBound,
    cacheControl: request.shape.cacheMark as CacheControl,
    asked: valuesOf(request),
    features: parsed.bound.unbounded,
    tools: toolLimits(model, request.shape.serverTools.map(askedOf), mayLower),
    others: catalogue.models,
    maxTokens: tokens(request.maxTokens),
    thinkingBudget: tokens(request.thinkingBudget),
    mayLower,
  }
}

function askedOf({ feature, maxUses, maxContentTokens }: ServerTool) {
  return { feature, maxUses: maxUses.value, maxContentTokens: maxContentTokens.value }
}

async function holdFor(
  ask: Ask,
  { request, catalogue }: Parsed<MessageRequest>,
  exchange: Exchange,
  caller: Authenticated,
  modules: Modules,
): Promise<Reserved> {
  const { id, lists } = ask.model
  const catalogueVersion = catalogue.version
  const tariffs = await modules.ledger.tariffs({ catalogueVersion, model: id, lists })
  const { book, fence } = caller
  const tariff = tariffs.get(DEFAULT_LIST) as number
  const worst = worstCase(ask)
  const floor = floorOf(ask)
  const asked = { id: exchange.id, book, tariff, fence, worst, floor }
  const granted = await hold(asked, exchange, caller, modules)
  return {
    ...{ book, fence, tariff, tariffs, granted },
    ...loweredOf(ask, worst, granted, request.shape.serverTools),
    isTemperatureRemoved: isTemperatureRemoved(exchange.version, request),
  }
}

function floorOf(ask: Ask): Credits {
  return ask.mayLower ? floorCost(ask) : worstCase(ask)
}

/**
 * The bound by the upstream's count, if the hold was refused because the floor does not fit by
 * bytes and may fit by the count; undefined: the refusal stays.
 */
async function countedBound(
  refusal: unknown,
  ask: Ask,
  exchange: Exchange,
  caller: Authenticated,
  parsed: Parsed<MessageRequest>,
  modules: Modules,
): Promise<Tokens | undefined> {
  if (!isRefusal<HoldRefusalCode>(refusal, 'credits_insufficient', 'day_limit_reached')) return
  const { shape } = parsed.request
  if (!isCountable(shape)) return
  // The most that a count can spare: an account that cannot pay even then causes no call.
  const least = boundByCount(shape, 1, ask.inputBound)
  if (floorOf({ ...ask, inputBound: least }) > (refusal.detail.headroom as Credits)) return
  const count = await modules.inputCounts.count(exchange, caller, parsed, modules)
  return count === undefined ? undefined : boundByCount(shape, count, ask.inputBound)
}

const DEFAULT_LIST = ''

async function hold(
  asked: HoldInput,
  { address }: Exchange,
  { plainKey }: Authenticated,
  { ledger, keys }: Pick<Modules, 'ledger' | 'keys'>,
): Promise<Credits> {
  try {
    return (await ledger.hold(asked)).granted
  } catch (error) {
    if (!isRefusal<HoldRefusalCode>(error, 'key_revoked')) throw error
    // The fence was raised after this process cached the key. Looking the key up again
    // distinguishes a reissued key, which keys.verify refuses, from one that is still valid under a
    // newer fence.
    keys.forget(plainKey)
    const { fence } = await keys.verify(plainKey, address)
    return (await ledger.hold({ ...asked, fence })).granted
  }
}

/** What the client's limits are lowered to, by the balance, the model and the catalogue. */
function loweredOf(
  ask: Ask,
  worst: Credits,
  granted: Credits,
  serverTools: readonly ServerTool[],
): Pick<Reserved, 'loweredMaxTokens' | 'loweredTools'> {
  if (!ask.mayLower) return { loweredMaxTokens: undefined, loweredTools: nothingLowered }
  const { outputCeiling } = ask.model
  const { maxTokens, tools } =
    granted >= worst ? { maxTokens: outputCeiling, tools: ask.tools } : lowerTo(ask, granted)
  return {
    loweredMaxTokens: maxTokens >= ask.maxTokens ? undefined : Number(maxTokens),
    loweredTools: lowerTools(serverTools, tools),
  }
}

/** Adds where the owner can act: people read this message in their programs. */
export function withCabinetUrl(error: unknown, cabinetUrl: string): unknown {
  if (!isRefusal<HoldRefusalCode>(error)) return error
  const remedy = remedies[error.code]
  if (remedy === undefined) return error
  return new Refusal(error.code, `${error.message} ${remedy(cabinetUrl)}`, error.detail, error)
}

const buy = (cabinet: string) => `Buy credits at ${cabinet}/packs`
const resume = (cabinet: string) => `Resume requests at ${cabinet}/limits`
const remedies: Partial<Record<HoldRefusalCode, (cabinet: string) => string>> = {
  credits_insufficient: buy,
  debt_outstanding: buy,
  day_limit_reached: (cabinet) => `Raise the limit at ${cabinet}/limits`,
  velocity_stopped: resume,
  owner_suspended: resume,
}
