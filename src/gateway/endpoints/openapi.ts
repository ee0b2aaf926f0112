// GET /openapi.json: the OpenAPI description of this gateway. It is docs/openapi.json, read once at
// start-up; a test compares it with the routes and with real answers.
import { readFileSync } from 'node:fs'
import type { Exchange } from '../exchange.ts'
import type { Modules } from '../modules.ts'

/** Throws when the file is missing: the installation is then incomplete. */
export function readOpenapi(): Buffer {
  return readFileSync(new URL('../../../docs/openapi.json', import.meta.url))
}

/** Needs no key: it contains nothing about any account. */
export async function getOpenapi(
  { clientReply, requestId }: Exchange,
  { openapi }: Pick<Modules, 'openapi'>,
): Promise<void> {
  clientReply.begin(200, {
    'content-type': 'application/json',
    'content-length': openapi.length,
    'cache-control': 'no-cache',
    'request-id': requestId,
  })
  clientReply.end(openapi)
}
