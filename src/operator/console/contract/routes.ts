// The types of every route of the console: body, query and answer. If the server does not serve a
// route of this list, it does not compile.
import type { Catalogue, VersionChanges } from './catalogue.ts'
import type {
  Account,
  Act,
  Approval,
  CommandAnswer,
  EntryLine,
  Found,
  Me,
  RequestDetails,
  Today,
  Upstream,
} from './contract.ts'
import type { Alarms, Credential } from './health.ts'
import type { Month, MonthInList } from './month.ts'
import type { OwnSignIn } from './own.ts'
import type { EvidenceFile, FigureRows, Queues } from './queues.ts'

/** What a session lacks: the code of the app, or the first second factor; null: nothing. */
export type Missing = { readonly missing: 'factor' | 'enrolment' | null }

/** A passkey's question: `options` as WebAuthn defines them in JSON. */
export type PasskeyQuestion = { readonly ticket: string; readonly options: object }

/** The key is method and path. POST bodies are JSON, `{}` where there is nothing to send. */
export type Routes = {
  'POST /api/sign-in': { body: { email: string; password: string }; answer: Missing }
  /** The app's code, or a recovery code. */
  'POST /api/sign-in/code': { body: { code: string }; answer: Missing }
  'POST /api/sign-in/passkey/begin': { body: object; answer: PasskeyQuestion }
  'POST /api/sign-in/passkey': { body: { ticket: string; response: object }; answer: Missing }
  /** `provider`: what the button of the identity provider says; null: there is none. */
  'GET /api/sign-in/ways': { answer: { provider: string | null } }
  /** The browser goes to `url`, which leads back to /sign-in/provider. */
  'POST /api/sign-in/provider/begin': { body: object; answer: { url: string } }
  /** `query` is what the provider added to that address. */
  'POST /api/sign-in/provider': { body: { query: string }; answer: Missing }
  'POST /api/sign-out': { body: object; answer: { done: true } }

  /** The one-time code of an invitation, and the first password. */
  'POST /api/enrolment': { body: { code: string; password: string }; answer: Missing }
  'POST /api/enrolment/app': { body: object; answer: { seed: string; uri: string } }
  'POST /api/enrolment/app/confirm': {
    body: { code: string }
    answer: Missing & { recoveryCodes: readonly string[] }
  }
  'POST /api/enrolment/passkey/begin': { body: object; answer: PasskeyQuestion }
  'POST /api/enrolment/passkey': {
    body: { ticket: string; response: object; name: string }
    answer: Missing
  }

  'GET /api/me': { answer: Me }

  /** The person's own sign-in; passkeys and apps are added by the routes of enrolment. */
  'GET /api/own': { answer: OwnSignIn }
  'POST /api/own/passkeys/:id/remove': { body: object; answer: OwnSignIn }
  'POST /api/own/sessions/end-others': { body: object; answer: OwnSignIn }
  'POST /api/own/password': { body: { present: string; next: string }; answer: { done: true } }
  'POST /api/own/recovery-codes': { body: object; answer: { recoveryCodes: readonly string[] } }

  'GET /api/today': { answer: Today }
  'GET /api/upstreams': { answer: { upstreams: readonly Upstream[] } }
  'GET /api/queues': { answer: Queues }
  /** The file for the bank, of a dispute or its order. */
  'GET /api/disputes/:id/evidence': { query: { language: 'ru' | 'en' }; answer: EvidenceFile }
  /** The rows of a figure of a day, today without one; `before` is `next` of the previous page. */
  'GET /api/figures/:name': {
    query: { day?: string | undefined; before?: string | undefined }
    answer: FigureRows
  }
  /** Those that wait first. */
  'GET /api/approvals': { answer: { approvals: readonly Approval[] } }
  /** Newest first. */
  'GET /api/months': { answer: { months: readonly MonthInList[] } }
  'GET /api/months/:month': { answer: Month }
  'GET /api/search': { query: { text: string }; answer: Found }
  'GET /api/accounts/:book': { answer: Account }
  /** Newest first; `before` is `next` of the previous page. */
  'GET /api/accounts/:book/statement': {
    query: { before?: string | undefined }
    answer: { entries: readonly EntryLine[]; next: string | null }
  }
  'GET /api/requests/:id': { answer: RequestDetails }
  /** Newest first. */
  'GET /api/acts': {
    query: { by?: string | undefined; limit?: number | undefined }
    answer: { acts: readonly Act[] }
  }

  /** What is in force, and every version. */
  'GET /api/catalogue': { answer: Catalogue }
  'GET /api/catalogue/:version': { answer: VersionChanges }
  'GET /api/credentials': { answer: { credentials: readonly Credential[] } }
  /** What is wrong now. */
  'GET /api/alarms': { answer: Alarms }

  /**
   * A command of `op`. Without `plan` nothing is done and the answer is its plan; with the digest
   * of that plan it is done, unless the plan has changed. The options are without their dashes.
   */
  'POST /api/commands': {
    body: {
      command: string
      args: string[]
      options: Record<string, string | true>
      plan?: string | undefined
    }
    answer: CommandAnswer
  }
}
