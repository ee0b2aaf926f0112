// A client of the gateway for fault programs. It numbers its messages, and the stand-in reports the
// number as output tokens, so that reply, charge and the stand-in's record can be matched.
import type { Dispatcher } from 'undici'

export type Call = {
  /** Reported by the stand-in as output tokens; unique among all calls. */
  readonly number: number
  readonly key: string
  readonly model?: string
  readonly isStream: boolean
  /** What the stand-in replies (by default a text of its own), and the fault that it plays. */
  readonly reply?: string
  readonly fault?: string
  readonly maxTokens?: number
}

export type Answer = {
  readonly status: number
  readonly requestId: string
  /** The text of the reply, joined as a client library joins it. */
  readonly text: string
  /** The reply is complete: the whole JSON, or message_stop and the end of the stream. */
  readonly isWhole: boolean
  /** From an error event, an error answer or a broken connection. */
  readonly error: string | undefined
  /** Seconds, from the header; undefined without one. */
  readonly retryAfter: number | undefined
  /** The sentence of an error answer. */
  readonly sentence?: string
}

/** Never throws: a failure is an answer too. Calls `onHead` when the status has arrived. */
export async function call(
  dispatcher: Dispatcher,
  url: string,
  { number, key, model = 'model-large', isStream, reply, fault = '', maxTokens = 100_000 }: Call,
  onHead: (status: number) => void = () => undefined,
): Promise<Answer> {
  const directive = reply === undefined ? '' : `[[reply: ${reply}]]`
  const content = `${number} ${directive} [[fault: usage-output=${number} ${fault}]]`
  const seen = { status: 0, requestId: '', raw: '', retryAfter: undefined as number | undefined }
  try {
    const { statusCode, headers, body } = await dispatcher.request({
      origin: url,
      method: 'POST',
      path: '/v1/messages',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify({
        model,
        max_tokens: maxTokens,
        stream: isStream,
        messages: [{ role: 'user', content }],
      }),
      headersTimeout: 120_000,
      bodyTimeout: 120_000,
    })
    seen.status = statusCode
    seen.requestId = String(headers['request-id'] ?? '')
    if (headers['retry-after'] !== undefined) seen.retryAfter = Number(headers['retry-after'])
    onHead(statusCode)
    body.setEncoding('utf8')
    for await (const chunk of body) seen.raw += chunk
    return isStream && statusCode === 200 ? ofStream(seen) : ofPlain(seen)
  } catch (error) {
    const { code = '', message = '' } = error as { code?: string; message?: string }
    const text = seen.status === 200 && isStream ? ofStream(seen).text : ''
    const { raw: _, ...known } = seen
    return { ...known, text, isWhole: false, error: `${code} ${message}`.trim() }
  }
}

type Seen = Pick<Answer, 'status' | 'requestId' | 'retryAfter'> & { readonly raw: string }

function ofStream({ raw, ...seen }: Seen): Answer {
  let text = ''
  let hasStop = false
  let error: string | undefined
  for (const [, data = ''] of raw.matchAll(/^data: (.*)\n\n/gm)) {
    const event = eventOf(data)
    if (event.type === 'message_start' && text !== '') error = 'a second message_start'
    if (event.type === 'content_block_delta') text += event.delta.text
    if (event.type === 'message_stop') hasStop = true
    if (event.type === 'error') error = `error event: ${event.error.type}`
  }
  const isWhole = hasStop && error === undefined
  return { ...seen, text, isWhole, error: error ?? (hasStop ? undefined : 'no end') }
}

/** If the upstream cuts an event, the gateway ends it there: its data is not valid JSON. */
function eventOf(data: string) {
  try {
    return JSON.parse(data)
  } catch {
    return { type: 'error', error: { type: 'an event cut in the middle' } }
  }
}

function ofPlain({ raw, ...seen }: Seen): Answer {
  const json = JSON.parse(raw)
  if (seen.status !== 200) {
    const { type, message: sentence } = json.error
    return { ...seen, text: '', isWhole: false, error: `${seen.status} ${type}`, sentence }
  }
  return { ...seen, text: json.content[0].text, isWhole: true, error: undefined }
}
