// The door of the cabinet: the account area, its pages, and the notifications of payment providers.
// A list of its parts; what they share is in server.ts, what they say in contract/.
import type { Endings } from '../accounts/accounts.ts'
import type { Db } from '../platform/db/db.ts'
import { type ApiOptions, apiParts } from './api/api.ts'
import { type Documents, readDocuments } from './documents.ts'
import { createEndings, type EndingOptions } from './endings.ts'
import { health } from './health.ts'
import { type Notified, notifications } from './notifications.ts'
import { pagesPart } from './pages.ts'
import { databaseAnswer } from './queries.ts'
import { createServer, type ServerOptions } from './server.ts'

export type { ApiOptions } from './api/api.ts'
export type { Notification, Notified, Notify } from './notifications.ts'
export type { Part } from './part.ts'

export type CabinetOptions = ServerOptions & {
  readonly db: Db
  /** Without it nobody can notify us: the path is unknown. */
  readonly payments?: Notified
  /** Without it there is no account area: /api is unknown. */
  readonly api?: Omit<ApiOptions, 'db' | 'clock' | 'log'>
  /** The built web application; `none` when somebody else serves it. */
  readonly pagesDirectory?: string
}

export function createCabinet(options: CabinetOptions) {
  const { db, clock, log, payments, api, pagesDirectory = 'none' } = options
  return createServer(options, [
    health({ askDatabase: () => databaseAnswer(db) }),
    ...(payments ? [notifications({ ...payments, log })] : []),
    ...(api ? apiParts({ ...api, db, clock, log }) : []),
    pagesPart(pagesDirectory, log),
  ])
}

/** The operator's legal pages, for wiring: accounts ask for agreement to them. */
export function openDocuments(file: string): Documents {
  return readDocuments(file)
}

/** What other rooms do at the end of an account, for wiring: accounts may not enter them. */
export function openEndings(options: EndingOptions): Endings {
  return createEndings(options)
}

export type { Documents }

export type Cabinet = ReturnType<typeof createCabinet>
