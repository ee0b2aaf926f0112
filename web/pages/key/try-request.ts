// Sends one message to the API with the key of this browser. The key is read from the browser's
// storage, sent in a header and forgotten: it is in no element, no log and no state of the page.
import type { ModelPrice } from '../../../src/cabinet/contract/prices.ts'

/** A few sentences, which cost little. */
export const REPLY_TOKENS_MAX = 256
export const TEXT_LENGTH_MAX = 1_000
/** What a message is wrapped in, in tokens: its role and the frame of the conversation. */
const FRAME_TOKENS = 20
/** A reply of 256 tokens takes seconds; nobody looks at the page for longer. */
const WAIT_MS = 120_000

export type TryProblem = 'key' | 'credits' | 'stopped' | 'busy' | 'model' | 'unreachable' | 'other'

export type TryResult =
  | {
      readonly kind: 'reply'
      readonly text: string
      readonly isCut: boolean
      /** Decimal credits; null: the gateway did not say. */
      readonly charged: string | null
      readonly balance: string | null
      readonly requestId: string | null
    }
  | {
      readonly kind: 'problem'
      readonly problem: TryProblem
      /** What the API said, in English; empty when it said nothing. */
      readonly message: string
      readonly requestId: string | null
    }

export async function sendTry(p: {
  readonly apiUrl: string
  readonly model: string
  readonly text: string
  readonly readKey: () => Promise<string>
}): Promise<TryResult> {
  const body = JSON.stringify({
    model: p.model,
    max_tokens: REPLY_TOKENS_MAX,
    messages: [{ role: 'user', content: p.text }],
  })
  const key = await p.readKey()
  const response = await fetch(`${p.apiUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body,
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    cache: 'no-store',
    signal: AbortSignal.timeout(WAIT_MS),
  }).catch(() => undefined)
  if (response === undefined) return problemOf('unreachable', '', null)
  const requestId = response.headers.get('request-id')
  const answer: unknown = await response.json().catch(() => undefined)
  if (!response.ok) {
    return problemOf(problemNames[response.status] ?? 'other', messageOf(answer), requestId)
  }
  const { content, stop_reason: stopReason } = answer as Reply
  return {
    kind: 'reply',
    text: (content ?? []).map(({ text = '' }) => text).join(''),
    isCut: stopReason === 'max_tokens',
    charged: response.headers.get('x-credit-charged'),
    balance: response.headers.get('x-credit-balance'),
    requestId,
  }
}

type Reply = { readonly content?: readonly { readonly text?: string }[]; stop_reason?: string }

const problemNames: Readonly<Record<number, TryProblem>> = {
  401: 'key',
  402: 'credits',
  403: 'stopped',
  404: 'model',
  429: 'busy',
  502: 'busy',
  503: 'busy',
  504: 'busy',
  529: 'busy',
}

function problemOf(problem: TryProblem, message: string, requestId: string | null): TryResult {
  return { kind: 'problem', problem, message, requestId }
}

function messageOf(answer: unknown): string {
  const { error } = Object(answer) as { readonly error?: { readonly message?: unknown } }
  return typeof error?.message === 'string' ? error.message : ''
}

/** The model whose output costs least: a try should cost little. */
export function cheapestModel(models: readonly ModelPrice[]): ModelPrice | undefined {
  const outputOf = ({ lists }: ModelPrice) => Number(lists[0].output)
  return models.toSorted((one, other) => outputOf(one) - outputOf(other))[0]
}

/** Whole credits that the message may cost at most: a token has at least one byte. */
export function costMax(model: ModelPrice, text: string): number {
  const [list] = model.lists
  const input = new TextEncoder().encode(text).length + FRAME_TOKENS
  return Math.ceil(input * Number(list.input) + REPLY_TOKENS_MAX * Number(list.output))
}
