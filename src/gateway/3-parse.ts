// Step 3: reads the body and finds the values that limits and prices need. The original bytes go
// upstream; they are never rebuilt from the parsed values.
import type { Refusal } from '../platform/refusal.ts'
import type { Snapshot } from '../pricing/pricing.ts'
import { boundInput } from '../wire/bound.ts'
import type { CountRequest, MessageRequest, ReadResult, RequestProblem } from '../wire/draft.ts'
import { readCountRequest, readMessageRequest } from '../wire/request.ts'
import { type Body, LARGE_BYTES, readBody } from './body/body.ts'
import type { LargeBodies } from './body/large-bodies.ts'
import type { Authenticated, Exchange, Parsed } from './exchange.ts'
import type { Modules } from './modules.ts'
import { gatewayRefusal } from './refusals.ts'
import { unknownModel } from './unknown-model.ts'

const EMPTY = Buffer.alloc(0)

type Needs = Pick<Modules, 'pricing' | 'largeBodies' | 'settings' | 'admission' | 'pace'>

/** Refuses: field_invalid, thread_unsupported, model_unknown, and the refusals of readBody. */
export function parse(
  exchange: Exchange,
  caller: Authenticated,
  modules: Needs,
): Promise<Parsed<MessageRequest>> {
  return parseAs<MessageRequest>(exchange, caller, modules, 'message', readMessageRequest)
}

/** The same for count_tokens, which has no max_tokens. */
export function parseCount(
  exchange: Exchange,
  caller: Authenticated,
  modules: Needs,
): Promise<Parsed<CountRequest>> {
  return parseAs<CountRequest>(exchange, caller, modules, 'count', readCountRequest)
}

async function parseAs<Request extends CountRequest>(
  exchange: Exchange,
  { book }: Authenticated,
  { pricing, largeBodies, settings, admission, pace }: Needs,
  kind: 'message' | 'count',
  read: (body: Buffer) => ReadResult<Request>,
): Promise<Parsed<Request>> {
  const shared = { admission, pace }
  const { body: taken, release } = await readBody(exchange, book, settings.bodyBytesMax, shared)
  try {
    const catalogue = pricing.current()
    const large =
      taken.length >= LARGE_BYTES ? await readLarge(largeBodies, taken, kind, catalogue) : undefined
    const body = large?.body ?? taken
    const result = (large?.result as ReadResult<Request> | undefined) ?? read(body)
    if (!result.ok) throw refuse(result.problem)
    const { request } = result
    const { journal, clock } = exchange
    journal.bytesIn = body.length
    const model = catalogue.modelById.get(request.model)
    if (model === undefined) throw unknownModel(request.model, catalogue.models)
    journal.model = model.id
    const bound = large?.bound ?? boundInput(request.shape, body, model.contextWindow)
    journal.parsedMs = clock.spanMs()
    const parsed: Parsed<Request> = {
      body,
      request,
      model,
      bound,
      catalogue,
      releaseBody() {
        parsed.body = EMPTY
        release()
      },
    }
    return parsed
  } catch (error) {
    release()
    throw error
  }
}

async function readLarge(
  largeBodies: LargeBodies,
  { buffer, length }: Body,
  kind: 'message' | 'count',
  catalogue: Snapshot,
) {
  const windows = Object.fromEntries(catalogue.models.map((one) => [one.id, one.contextWindow]))
  const read = await largeBodies.read({ memory: buffer, bytes: length, kind, windows })
  return { ...read, body: Buffer.from(read.memory, 0, length) }
}

function refuse(problem: RequestProblem): Refusal {
  const code = problem.errorCode === undefined ? 'field_invalid' : 'thread_unsupported'
  return gatewayRefusal(code, problem.message, { field: problem.field })
}
