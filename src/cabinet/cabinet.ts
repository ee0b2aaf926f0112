// Entry file of the cabinet: the account area, its pages, and the notifications of payment
// providers. It lists the plugins; platform/server is what they share, contract/ the types of
// answers.
import type { ClosingHooks } from '../accounts/accounts.ts'
import type { Db } from '../platform/db/db.ts'
import { healthPlugin } from '../platform/server/health.ts'
import { pagesPlugin } from '../platform/server/pages.ts'
import { createServer, type ServerOptions } from '../platform/server/server.ts'
import { answers } from './answers.ts'
import { type ApiOptions, apiPlugins } from './api/api.ts'
import { type ClosingHookOptions, createClosingHooks } from './closing-hooks.ts'
import { type Documents, readDocuments } from './documents.ts'
import { type NotificationReceiver, notificationsPlugin } from './notifications.ts'

export type { ApiOptions } from './api/api.ts'
export type { Notification, NotificationReceiver, StoreNotification } from './notifications.ts'

export type CabinetOptions = ServerOptions & {
  readonly db: Db
  /** Without it /notifications answers 404. */
  readonly payments?: NotificationReceiver
  /** Without it there is no account area: /api answers 404. */
  readonly api?: Omit<ApiOptions, 'db' | 'clock' | 'log'>
  /** The built web application; `none` when another server serves it. */
  readonly pagesDirectory?: string
}

export function createCabinet(options: CabinetOptions) {
  const { db, clock, log, payments, api, pagesDirectory = 'none' } = options
  return createServer({ ...options, answers }, [
    healthPlugin(db),
    ...(payments ? [notificationsPlugin({ ...payments, log })] : []),
    ...(api ? apiPlugins({ ...api, db, clock, log }) : []),
    pagesPlugin(pagesDirectory, log),
  ])
}

/** The operator's legal documents, for wiring.ts: an owner must accept them to register. */
export function openDocuments(file: string): Documents {
  return readDocuments(file)
}

/** What other modules do when an account is closed; wiring.ts passes it to accounts. */
export function openClosingHooks(options: ClosingHookOptions): ClosingHooks {
  return createClosingHooks(options)
}

export type { Documents }

export type Cabinet = ReturnType<typeof createCabinet>
