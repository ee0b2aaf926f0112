// Every call to the console's API, typed by its contract.
import type { ErrorCode } from '../../src/operator/console/contract/codes.ts'
import type { Routes } from '../../src/operator/console/contract/routes.ts'
import { type ApiRefusal, type Call, isApiRefusal, send } from '../runtime/api.ts'

export type Route = keyof Routes
export type AnswerOf<R extends Route> = Routes[R]['answer']

/** `await call('GET /api/accounts/:book', { params: { book } })`. Throws ApiRefusal. */
// Safe as long as the server keeps the contract; the server's own tests check that.
export const call = send as Call<Routes>

export function isRefused(error: unknown, ...codes: readonly ErrorCode[]): error is ApiRefusal {
  return isApiRefusal(error) && (codes as readonly string[]).includes(error.code)
}
