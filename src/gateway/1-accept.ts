// Step 1: a request comes in. It gets its number, we learn where it comes from, and we will be told
// when the client goes. What can be refused from the headers alone is refused here, before the key
// is looked at: a body in a form we do not read.
import type { ClientReply, ClientRequest } from '../http/http.ts'
import { newHoldId, requestIdOf } from '../platform/ids.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Exchange } from './exchange.ts'
import type { Rooms } from './rooms.ts'

/** Never refuses: everything else needs the exchange to answer with. */
export function accept(
  incoming: ClientRequest,
  outgoing: ClientReply,
  { clock, limits, shutdown }: Pick<Rooms, 'clock' | 'limits' | 'shutdown'>,
): Exchange {
  const id = newHoldId(limits.cell, clock.nowMs())
  const { url } = incoming
  const questionMark = url.indexOf('?')
  const exchange: Exchange = {
    id,
    requestId: requestIdOf(id),
    incoming,
    outgoing,
    address: addressOf(incoming, limits.addressHeader),
    query: questionMark === -1 ? '' : url.slice(questionMark),
    startedMs: clock.spanMs(),
    isGone: false,
    isStopped: false,
    onGone: undefined,
  }
  outgoing.onGone = () => {
    exchange.isGone = true
    exchange.isStopped = shutdown.isForced
    exchange.onGone?.()
  }
  return exchange
}

/** Refuses a body that is not JSON, or is compressed: the bound is counted on its plain bytes. */
export function expectJson({ incoming }: Exchange): void {
  const type = incoming.headers['content-type']
  const isPlainJson = type === 'application/json' // what every library sends
  if (!isPlainJson && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type ?? '')) {
    throw new Refusal('content_type_wrong', 'content-type: expected application/json')
  }
  const encoding = incoming.headers['content-encoding']
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
    throw new Refusal(
      'content_encoding_unsupported',
      'content-encoding: compressed request bodies are not supported',
    )
  }
}

function addressOf({ headers, remoteAddress }: ClientRequest, header: string): string {
  const named = header === 'none' ? undefined : headers[header]
  // The edge sets the header anew, so its last element is the edge's own word.
  return named?.split(',').at(-1)?.trim() || remoteAddress
}
