// GET /openapi.json: what this gateway serves, for programs that read such descriptions. The text
// is docs/openapi.json, read once at start-up; a test compares it with the routes and with real
// answers.
import { readFileSync } from 'node:fs'
import type { Exchange } from '../exchange.ts'
import type { Rooms } from '../rooms.ts'

/** Throws when the file is not there: an installation without it is not whole. */
export function readOpenapi(): Buffer {
  return readFileSync(new URL('../../../docs/openapi.json', import.meta.url))
}

/** Needs no key: it says nothing about anyone. */
export async function getOpenapi(
  { outgoing, requestId }: Exchange,
  { openapi }: Pick<Rooms, 'openapi'>,
): Promise<void> {
  outgoing.begin(200, {
    'content-type': 'application/json',
    'content-length': openapi.length,
    'cache-control': 'no-cache',
    'request-id': requestId,
  })
  outgoing.end(openapi)
}
