// The control API under /_stand-in: switches modes, reads and clears the record. For tests and
// demonstrations that run in another process; the object that startVendor returns has the same
// methods.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { VendorError } from './errors.ts'
import type { Parts } from './exchange.ts'
import { readModes } from './modes.ts'
import type { Received } from './record.ts'

// The default page size of the record; bodies are included only on request.
const requestsShown = 100

export const controlPrefix = '/_stand-in/'

export async function control(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Parts,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://stand-in')
  try {
    const answer = await act(request, url, parts)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  } catch (error) {
    if (!(error instanceof VendorError) && !(error instanceof SyntaxError)) throw error
    const status = error instanceof VendorError ? error.status : 400
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: error.message }))
  }
}

async function act(request: IncomingMessage, url: URL, parts: Parts): Promise<object> {
  const { modes, record } = parts
  const body = Buffer.concat(await Array.fromAsync(request)).toString()
  switch (`${request.method} ${url.pathname.slice(controlPrefix.length)}`) {
    case 'GET mode':
      return { modes: modes.list() }
    case 'POST mode':
      modes.set(...readModes(JSON.parse(body)))
      return { modes: modes.list() }
    case 'DELETE mode':
      modes.set()
      return { modes: [] }
    case 'GET requests': {
      const shown = Number(url.searchParams.get('last') ?? requestsShown)
      const hasBodies = url.searchParams.get('bodies') === 'true'
      const newest = shown > 0 ? record.all().slice(-shown) : []
      return { counts: record.counts(), requests: newest.map((one) => shownOf(one, hasBodies)) }
    }
    case 'DELETE requests':
      record.clear()
      return { counts: record.counts() }
    default:
      throw new VendorError(404)
  }
}

function shownOf({ body, ...received }: Received, hasBodies: boolean): object {
  return hasBodies ? { ...received, bodyBase64: body?.toString('base64') ?? null } : received
}
