// Every route of the cabinet, with its body, query and answer: types alone, part of the contract. A
// route that nobody serves does not compile.

import type { AuthRoutes } from './auth.ts'
import type {
  Brand,
  Closing,
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
  Pack,
  PasskeyLine,
  Prices,
  Refund,
  Refundable,
  SessionLine,
  Unspent,
} from './contract.ts'
import type { GuardRoutes } from './guards.ts'
import type { StatusRoutes } from './status.ts'
import type { UsageRoutes } from './usage.ts'

/** Every route there is. */
export type Routes = OwnerRoutes & AuthRoutes & GuardRoutes & StatusRoutes & UsageRoutes

/**
 * Method and path → what is sent and what comes back. POST bodies are JSON, `{}` where nothing is
 * sent. `fresh`: the session must be fresh, else 403 `session_not_fresh`. Public: no session.
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
  'GET /api/sessions': { answer: { sessions: readonly SessionLine[] } }
  'POST /api/sessions/:id/revoke': { body: object; answer: { sessions: readonly SessionLine[] } }
  'POST /api/sessions/revoke-others': { body: object; answer: { revoked: number } }
  'GET /api/passkeys': { answer: { passkeys: readonly PasskeyLine[] } }
  'GET /api/consents': { answer: Consents }
  'POST /api/consents': { body: { document: string; version: string }; answer: Consents }
  'GET /api/closing': { answer: Closing }
  /** Fresh. Ends every session. */
  'POST /api/closing': { body: { unspent: Unspent }; answer: { closed: true } }
  /** Fresh. A JSON file to be saved: everything we hold about the owner. */
  'GET /api/export': { answer: Readonly<Record<string, unknown>> }

  /** `zone`: whose days are counted, such as `Europe/Moscow`; UTC when absent or unknown. */
  'GET /api/home': { query: { zone?: string | undefined }; answer: Home }
  /** Server-Sent Events: LiveEvents. */
  'GET /api/live': { query: { zone?: string | undefined }; answer: LiveEvents }

  'GET /api/packs': { answer: { catalogueVersion: number; packs: readonly Pack[] } }
  /**
   * `attempt`: made by the browser once per purchase, 1-100 of A-Z, a-z, 0-9, dash, underscore.
   * Whoever paid comes back to the page `/orders/<id>`. `savesMethod`: the card is kept with the
   * provider, for top-ups that the owner then switches on.
   */
  'POST /api/orders': {
    body: { pack: string; method: Method; attempt: string; savesMethod?: boolean | undefined }
    answer: Order
  }
  /** Newest first; `before` is `next` of the page before. */
  'GET /api/orders': {
    query: { before?: string | undefined; limit?: number | undefined }
    answer: { orders: readonly Order[]; next: string | null }
  }
  'GET /api/orders/:id': { answer: OrderWithRefunds }
  /** Asks the payment provider now. */
  'POST /api/orders/:id/check': { body: object; answer: Order }
  'GET /api/orders/:id/refundable': { answer: Refundable }
  /** Fresh. Without an amount: all that can be given back. */
  'POST /api/orders/:id/refund': {
    body: { attempt: string; amountKopecks?: Kopecks | undefined }
    answer: Refund
  }
  'POST /api/promo': { body: { code: string }; answer: { credits: Credits } }

  'GET /api/key': { answer: KeyState }
  /** Makes a pending key. Fresh when there was one before, in force or revoked. */
  'POST /api/key': { body: object; answer: NewKey }
  /** Puts the pending key in force and ends the one before. Fresh as above. May be repeated. */
  'POST /api/key/:id/confirm': { body: object; answer: KeyState }
  /** Whether a pasted value is the account's key in force. */
  'POST /api/key/verify': { body: { plain: string }; answer: { isCurrent: boolean } }
  /** The key is known to others: it ends at once. */
  'POST /api/key/revoke': { body: object; answer: KeyState }
}
