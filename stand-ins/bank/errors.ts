// The provider's errors: a status, a code, a description, and the parameter that is wrong. Some
// statuses come without a body.
import { errorId } from './ids.ts'

const codes = {
  400: 'invalid_request',
  401: 'invalid_credentials',
  403: 'forbidden',
  404: 'not_found',
  405: null,
  413: null,
  415: null,
  429: 'too_many_requests',
  500: 'internal_server_error',
} as const

export type ErrorStatus = keyof typeof codes

type Details = { parameter?: string; retryAfterMs?: number }

export class BankError extends Error {
  readonly status: ErrorStatus
  readonly details: Details

  constructor(status: ErrorStatus, description = '', details: Details = {}) {
    super(description)
    this.status = status
    this.details = details
  }

  /** The JSON body; null where the provider sends none. */
  get body(): object | null {
    const code = codes[this.status]
    if (code === null) return null
    const { parameter, retryAfterMs } = this.details
    return {
      type: 'error',
      id: errorId(),
      code,
      ...(this.message === '' ? {} : { description: this.message }),
      ...(parameter === undefined ? {} : { parameter }),
      ...(retryAfterMs === undefined ? {} : { retry_after: retryAfterMs }),
    }
  }
}

export function invalid(parameter: string, description: string): BankError {
  return new BankError(400, description, { parameter })
}

export function missing(parameter: string): BankError {
  return invalid(parameter, 'Required parameter is missing')
}
