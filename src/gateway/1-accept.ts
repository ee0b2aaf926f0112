// Step 1: assigns the request id, reads the client's address and watches for the client's
// disconnect. `expectJson` refuses what the headers alone show, before the key is looked up: a body
// that is compressed or not JSON.
import type { ClientReply, ClientRequest } from '../http/http.ts'
import { newHoldId, requestIdOf } from '../platform/ids.ts'
import { ClientWait } from './client-wait.ts'
import type { Exchange } from './exchange.ts'
import { emptyJournal } from './journal.ts'
import type { Modules } from './modules.ts'
import { gatewayRefusal } from './refusals.ts'
import { versionOf } from './versions.ts'

/** Never throws: errors of the later steps are answered through the exchange. */
export function accept(
  clientRequest: ClientRequest,
  clientReply: ClientReply,
  { clock, settings, eventLoop }: Pick<Modules, 'clock' | 'settings' | 'eventLoop'>,
): Exchange {
  const id = newHoldId(settings.cell, clock.nowMs())
  const startedMs = clock.spanMs()
  const { url } = clientRequest
  const questionMark = url.indexOf('?')
  const exchange: Exchange = {
    id,
    requestId: requestIdOf(id),
    clientRequest,
    clientReply,
    address: addressOf(clientRequest, settings.addressHeader),
    version: versionOf(clientRequest.headers, settings),
    query: questionMark === -1 ? '' : url.slice(questionMark),
    clock,
    startedMs,
    journal: emptyJournal(),
    endedBy: undefined,
    isDisconnected: false,
    disconnectedMs: undefined,
    clientWait: new ClientWait(startedMs, eventLoop.blockedMs),
    onDisconnect: undefined,
    ending: undefined,
    onShed: undefined,
  }
  clientReply.onDisconnect = (cause) => {
    exchange.isDisconnected = true
    exchange.disconnectedMs = clock.spanMs()
    exchange.endedBy ??= cause ?? 'client_left'
    exchange.onDisconnect?.()
  }
  return exchange
}

/**
 * Refuses a body that is not JSON, or is compressed: the input bound is computed from plain bytes.
 */
export function expectJson({ clientRequest }: Exchange): void {
  const type = clientRequest.headers['content-type']
  const isPlainJson = type === 'application/json' // what every library sends
  if (!isPlainJson && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type ?? '')) {
    throw gatewayRefusal('content_type_wrong', 'content-type: expected application/json')
  }
  const encoding = clientRequest.headers['content-encoding']
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
    throw gatewayRefusal(
      'content_encoding_unsupported',
      'content-encoding: compressed request bodies are not supported',
    )
  }
}

function addressOf({ headers, remoteAddress }: ClientRequest, header: string): string {
  const named = header === 'none' ? undefined : headers[header]
  // The edge writes the last element; a client may have written those before it.
  return named?.split(',').at(-1)?.trim() || remoteAddress
}
