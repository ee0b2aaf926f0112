// A copy behind a URL. POST with lines stores them; GET answers with the stored line
// of the highest number.
// docs/runbooks.md describes the protocol for authors of a receiver.
import { request } from 'undici'
import { Fault } from '../../platform/assert.ts'
import type { Masked } from '../../platform/masked.ts'
import { newestMarkOf } from '../chain.ts'
import type { Copy } from './port.ts'

const TIMEOUT_MS = 10_000
/** One line; a receiver that sends its whole list is wrong. */
const BYTES_MAX = 1_048_576
const HAS_NOTHING = 204
/** Some receivers answer 404 however much they have: sending everything again would not end. */
const CANNOT_READ = [404, 405, 501]

export function openHttpCopy(url: string, secret: Masked<string>): Copy {
  const value = secret.reveal()
  const login = value === 'none' ? {} : { authorization: `Bearer ${value}` }

  async function call(method: 'GET' | 'POST', body?: string) {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const type = body === undefined ? {} : { 'content-type': 'application/x-ndjson' }
    const headers = { ...login, ...type }
    const answer = await request(url, { method, headers, signal, body: body ?? null })
    let text = ''
    for await (const chunk of answer.body) {
      text += chunk
      // Leaving the loop closes the connection.
      if (text.length > BYTES_MAX) throw new Fault('the copy of the acts answers with too much')
    }
    return { status: answer.statusCode, text }
  }

  return {
    async last() {
      const { status, text } = await call('GET')
      if (CANNOT_READ.includes(status)) return 'unreadable'
      if (status === HAS_NOTHING) return undefined
      const mark = status === 200 ? newestMarkOf(text) : undefined
      // Not the text: it may quote our secret.
      if (mark === undefined) throw new Fault(`the copy of the acts answers GET with ${status}`)
      return mark
    },

    async append(lines) {
      const { status } = await call('POST', `${lines.join('\n')}\n`)
      if (status < 200 || status > 299) {
        throw new Fault(`the copy of the acts answers POST with ${status}`)
      }
    },
  }
}
