// The vendor's errors: status, error type, wording and the one JSON shape. Messages follow the
// wording clients match on ("max_tokens: Field required"); the files that read requests decide when
// to refuse.

type Meaning = readonly [type: string, message: string]

const meanings: Readonly<Record<number, Meaning>> = {
  400: ['invalid_request_error', 'Invalid request'],
  401: ['authentication_error', 'invalid x-api-key'],
  402: ['billing_error', 'There is a problem with your billing or payment information'],
  403: ['permission_error', 'Your API key does not have permission to use the specified resource'],
  404: ['not_found_error', 'Not found'],
  405: ['invalid_request_error', 'Method Not Allowed'],
  408: ['timeout_error', 'Request timed out'],
  409: ['conflict_error', 'The request conflicts with another one'],
  413: ['request_too_large', 'Request exceeds the maximum size'],
  422: ['invalid_request_error', 'Unprocessable request'],
  429: ['rate_limit_error', 'This request would exceed the rate limit of your organization'],
  500: ['api_error', 'Internal server error'],
  502: ['api_error', 'Bad gateway'],
  503: ['api_error', 'Service unavailable'],
  504: ['timeout_error', 'Gateway timeout'],
  529: ['overloaded_error', 'Overloaded'],
}

/** An answer the vendor gives instead of a reply. */
export class VendorError extends Error {
  override readonly name = 'VendorError'
  readonly status: number
  readonly type: string
  readonly code: string | null

  constructor(status: number, message?: string, more: { type?: string; code?: string } = {}) {
    const [type, usual] = meanings[status] ?? ['api_error', `Status ${status}`]
    super(message ?? usual)
    this.status = status
    this.type = more.type ?? type
    this.code = more.code ?? null
  }
}

/** The commonest refusal: 400, with the path of the offending field in the message. */
export function invalid(message: string): VendorError {
  return new VendorError(400, message)
}

/** The body of an error, and the data of an `error` event. */
export function errorBody(error: VendorError, requestId: string) {
  const details = error.code === null ? {} : { details: { error_code: error.code } }
  return {
    type: 'error',
    error: { type: error.type, message: error.message, ...details },
    request_id: requestId,
  }
}
