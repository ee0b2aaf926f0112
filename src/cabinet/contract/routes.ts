// The types of every route of the cabinet: body, query and answer. If the server does not serve a
// route of this list, it does not compile.

import type { AuthRoutes } from './auth.ts'
import type { Closing } from './closing.ts'
import type {
  Brand,
  Consents,
  Credits,
  DocumentText,
  Home,
  KeyState,
  Kopecks,
  Language,
  LiveEvents,
  Me,
  Method,
  NewKey,
  Order,
  OrderWithRefunds,
  OrderWithUnspent,
  Pack,
  PasskeyLine,
  Refund,
  Refundable,
  ResetReview,
  SessionLine,
  UnspentChoice,
} from './contract.ts'
import type { GuardRoutes } from './guards.ts'
import type { Prices } from './prices.ts'
import type { SessionRoutes } from './sessions.ts'
import type { StatusRoutes } from './status.ts'
import type { UsageRoutes } from './usage.ts'

/** All routes. */
export type Routes = OwnerRoutes &
  AuthRoutes &
  GuardRoutes &
  SessionRoutes &
  StatusRoutes &
  UsageRoutes

/**
 * The key is method and path. POST bodies are JSON, `{}` where there is nothing to send. An
 * action in a comment, such as `order.refund`: the session needs the proofs of its level in
 * accounts/levels.ts, otherwise 403 `step_up_needed`. Public: no session is needed.
 */
export type OwnerRoutes = {
  // Public.
  'GET /api/brand': { answer: Brand }
  'GET /api/prices': { answer: Prices }
  'GET /api/documents/:document': {
    query: { language?: Language | undefined }
    answer: DocumentText
  }

  'GET /api/me': { answer: Me }
  'POST /api/me/language': { body: { language: Language }; answer: Me }
  'POST /api/me/zone': { body: { zone: string }; answer: Me }
  'POST /api/me/summaries': { body: { isOn: boolean }; answer: { isOn: boolean } }
  /** By the link of such an e-mail, without a session. */
  'POST /api/unsubscribe': { body: { code: string }; answer: { isCodeRight: boolean } }
  'GET /api/sessions': { answer: { sessions: readonly SessionLine[] } }
  'POST /api/sessions/:id/revoke': { body: object; answer: { sessions: readonly SessionLine[] } }
  'POST /api/sessions/revoke-others': { body: object; answer: { revoked: number } }
  'GET /api/passkeys': { answer: { passkeys: readonly PasskeyLine[] } }
  'GET /api/reset-review': { answer: ResetReview }
  /**
   * `reset.review`. Drops these passkeys and keys, ends the other sessions and the review. Ids that
   * are not the owner's are ignored.
   */
  'POST /api/reset-review': {
    body: { passkeys: string[]; keys: string[] }
    answer: ResetReview
  }
  'GET /api/consents': { answer: Consents }
  'POST /api/consents': { body: { document: string; version: string }; answer: Consents }
  'GET /api/closing': { answer: Closing }
  /** `account.close`. Begins the closing; sessions end when the account is closed. */
  'POST /api/closing': { body: { unspent: UnspentChoice }; answer: Closing }
  'POST /api/closing/stop': { body: object; answer: Closing }
  'POST /api/closing/refunds/:id/again': { body: object; answer: Closing }
  /** `account.export`. A JSON file to download: everything we hold about the owner. */
  'GET /api/export': { answer: Readonly<Record<string, unknown>> }

  /** `zone`: the time zone of the days, such as `Europe/Moscow`; UTC when absent or unknown. */
  'GET /api/home': { query: { zone?: string | undefined }; answer: Home }
  /** Server-Sent Events: LiveEvents. */
  'GET /api/live': { query: { zone?: string | undefined }; answer: LiveEvents }

  'GET /api/packs': { answer: { catalogueVersion: number; packs: readonly Pack[] } }
  /**
   * `attempt`: an id that the browser makes once per purchase, 1-100 of A-Z, a-z, 0-9, dash,
   * underscore. After paying, the payer returns to `/orders/<id>`. `savesMethod`: the provider
   * stores the card, for top-ups that the owner then switches on.
   */
  'POST /api/orders': {
    body: { pack: string; method: Method; attempt: string; savesMethod?: boolean | undefined }
    answer: Order
  }
  /** Newest first; `before` is `next` of the previous page. */
  'GET /api/orders': {
    query: { before?: string | undefined; limit?: number | undefined }
    answer: { orders: readonly OrderWithUnspent[]; next: string | null }
  }
  'GET /api/orders/:id': { answer: OrderWithRefunds }
  /** Asks the payment provider now. */
  'POST /api/orders/:id/check': { body: object; answer: Order }
  'GET /api/orders/:id/refundable': { answer: Refundable }
  /** `order.refund`. Without an amount: all that can be refunded. */
  'POST /api/orders/:id/refund': {
    body: { attempt: string; amountKopecks?: Kopecks | undefined }
    answer: Refund
  }
  'POST /api/promo': { body: { code: string }; answer: { credits: Credits } }

  'GET /api/key': { answer: KeyState }
  /** Creates a pending key. `key.replace` if the account had a key before, active or revoked. */
  'POST /api/key': { body: object; answer: NewKey }
  /** Activates the pending key and ends the one before. `key.replace` as above. May be repeated. */
  'POST /api/key/:id/confirm': { body: object; answer: KeyState }
  /** Whether a pasted value is the account's active key. */
  'POST /api/key/verify': { body: { plain: string }; answer: { isCurrent: boolean } }
  /** Ends the key at once, when others know it. */
  'POST /api/key/revoke': { body: object; answer: KeyState }
}
