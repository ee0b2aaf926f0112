// What the status of an answer says about the target that gave it. The gateway also decides by it
// whether another target may do better, and whether the client may see the answer.

/**
 * `served`: 2xx. `refused`: every target would refuse this request. `retry`: nothing about the
 * target, but the same request may succeed. `limited`, `overloaded`, `failed`: 429, 529, another
 * 5xx. The last three are about our account there: it lacks funds, its credential is not accepted,
 * or it may not do what the request asks for.
 */
export type Verdict =
  | 'served'
  | 'refused'
  | 'retry'
  | 'limited'
  | 'overloaded'
  | 'failed'
  | AccountVerdict

export type AccountVerdict = 'unpaid' | 'unauthorised' | 'forbidden'

/** Of the body of an error, as far as it could be read. */
type ErrorWords =
  | { readonly type: string; readonly message: string; readonly code?: string }
  | undefined

/**
 * The vendor answers 400 with this sentence when our prepaid balance is used up. Errors about a
 * field repeat words of the request, before or after a colon: a customer must not be able to put
 * our credential out of service.
 */
const UNPAID = /^Your credit balance is too low\b(?!.*: )/i
/** Its code when the spending limit of our account is reached, with status 429. */
const SPEND_LIMIT = 'enforced_spend_limit_reached'

export function verdictOf(status: number, error?: ErrorWords): Verdict {
  if (status < 300) return 'served'
  if (status === 400) return UNPAID.test(error?.message ?? '') ? 'unpaid' : 'refused'
  if (status === 401) return 'unauthorised'
  if (status === 402) return 'unpaid'
  if (status === 403) return 'forbidden'
  if (status === 408 || status === 409) return 'retry'
  if (status === 429) {
    return error?.type === 'billing_error' || error?.code === SPEND_LIMIT ? 'unpaid' : 'limited'
  }
  if (status === 529) return 'overloaded'
  return status >= 500 ? 'failed' : 'refused'
}

/**
 * Only the body tells a request of the client's own fault from an account without funds, and the
 * vendor's own error from that of a proxy in front of it.
 */
export function needsBody(status: number): boolean {
  return status === 400 || status === 429 || isProxyStatus(status)
}

/**
 * A proxy in front of the vendor lost the reply: it waited for too long, or the connection broke.
 * The vendor may have accepted the request. Its own errors have a body that `readErrorBody` knows,
 * whatever their status, and mean that it did not.
 */
export function isLostByProxy(status: number, error?: ErrorWords): boolean {
  return isProxyStatus(status) && error === undefined
}

/** Bad gateway and gateway timeout, and those of Cloudflare, which is the vendor's edge. */
function isProxyStatus(status: number): boolean {
  return status === 502 || status === 504 || (status >= 520 && status <= 524)
}

/** The client must not see it: it would take it for an answer about its own key or balance. */
export function isAboutOurAccount(verdict: Verdict): verdict is AccountVerdict {
  return verdict === 'unpaid' || verdict === 'unauthorised' || verdict === 'forbidden'
}
