// Entry file of the cabinet: the account area, its pages, and the notifications of payment
// providers. It lists the plugins; platform/server is what they share, contract/ the types of
// answers.
import type { ClosingHooks } from '../accounts/accounts.ts'
import type { Db } from '../platform/db/db.ts'
import { healthPlugin } from '../platform/server/health.ts'
import { pagesPlugin } from '../platform/server/pages.ts'
import { createServer, type ServerOptions } from '../platform/server/server.ts'
import { answers } from './answers.ts'
import { type ApiOptions, apiPlugins, openPublicRoutes, readerOf } from './api/api.ts'
import { type ClosingHookOptions, createClosingHooks } from './closing-hooks.ts'
import { type Documents, readDocuments } from './documents.ts'
import { type NotificationReceiver, notificationsPlugin } from './notifications.ts'
import { openSite } from './site/site.ts'
import { unsubscribePlugin } from './unsubscribe.ts'

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
  const served = api && openApi({ ...api, db, clock, log })
  return createServer({ ...options, answers }, [
    healthPlugin(db),
    ...(payments ? [notificationsPlugin({ ...payments, log })] : []),
    ...(served?.plugins ?? []),
    ...(api ? [unsubscribePlugin(api.accounts)] : []),
    // The key page sends a message to the API. It may be reached from any page without another
    // load, so the policy of every page names the API.
    pagesPlugin(pagesDirectory, log, {
      ...(api && { connectTo: new URL(api.apiUrl).origin }),
      ...(served && { openPages: served.openSite }),
    }),
  ])
}

/** The account area, and the public pages, which read the same answers. */
function openApi(options: ApiOptions) {
  const open = openPublicRoutes(options)
  const site = { ...options, name: options.brand.name, read: readerOf(open) }
  return {
    plugins: apiPlugins(options, open),
    openSite: (directory: string, indexHtml: string) => openSite(site, directory, indexHtml),
  }
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
