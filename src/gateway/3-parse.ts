// Step 3: what limits and prices need of the body. The bytes themselves are kept and go upstream as
// they are; nothing is rebuilt from what was read.
import { Refusal } from '../platform/refusal.ts'
import type { Snapshot } from '../pricing/pricing.ts'
import { boundInput } from '../wire/bound.ts'
import type { CountRequest, MessageRequest, ReadResult, RequestProblem } from '../wire/draft.ts'
import { readCountRequest, readMessageRequest } from '../wire/request.ts'
import { type Body, LARGE_BYTES, readBody } from './body/body.ts'
import type { LargeBodies } from './body/large-bodies.ts'
import type { Authenticated, Exchange, Parsed } from './exchange.ts'
import type { Rooms } from './rooms.ts'

const NOTHING = Buffer.alloc(0)

type Needs = Pick<Rooms, 'pricing' | 'largeBodies' | 'limits' | 'budget'>

/** Refuses: what reading the body refuses, field_invalid, thread_unsupported, model_unknown. */
export function parse(
  exchange: Exchange,
  caller: Authenticated,
  rooms: Needs,
): Promise<Parsed<MessageRequest>> {
  return parseAs<MessageRequest>(exchange, caller, rooms, 'message', readMessageRequest)
}

/** The same for count_tokens, which asks for no reply. */
export function parseCount(
  exchange: Exchange,
  caller: Authenticated,
  rooms: Needs,
): Promise<Parsed<CountRequest>> {
  return parseAs<CountRequest>(exchange, caller, rooms, 'count', readCountRequest)
}

async function parseAs<Request extends CountRequest>(
  exchange: Exchange,
  { book }: Authenticated,
  { pricing, largeBodies, limits, budget }: Needs,
  kind: 'message' | 'count',
  read: (body: Buffer) => ReadResult<Request>,
): Promise<Parsed<Request>> {
  const { body: taken, free } = await readBody(exchange, book, limits.bodyBytesMax, budget)
  try {
    const catalogue = pricing.current()
    const large =
      taken.length >= LARGE_BYTES ? await readLarge(largeBodies, taken, kind, catalogue) : undefined
    const body = large?.body ?? taken
    const result = (large?.result as ReadResult<Request> | undefined) ?? read(body)
    if (!result.ok) throw refuse(result.problem)
    const { request } = result
    const model = catalogue.modelById.get(request.model)
    if (model === undefined) throw new Refusal('model_unknown', `model: ${request.model}`)
    const bound = large?.bound ?? boundInput(request.shape, body, model.contextWindow)
    const parsed: Parsed<Request> = {
      body,
      request,
      model,
      bound,
      catalogue,
      free() {
        parsed.body = NOTHING
        free()
      },
    }
    return parsed
  } catch (error) {
    free()
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
  return new Refusal(code, problem.message, { field: problem.field })
}
