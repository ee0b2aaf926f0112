// The modules that commands act through.
import type { Accounts } from '../../accounts/accounts.ts'
import type { Acts } from '../../acts/acts.ts'
import type { Keys } from '../../keys/keys.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Payments } from '../../payments/payments.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import type { EmailBrand } from '../../platform/mail/email.ts'
import type { Mail } from '../../platform/mail/mail.ts'
import type { Masked } from '../../platform/masked.ts'
import type { SecretVersions } from '../../platform/secret-versions.ts'
import type { Pricing } from '../../pricing/pricing.ts'
import type { Reports } from '../../reports/reports.ts'
import type { Staff } from '../../staff/staff.ts'
import type { StatusPage } from '../../status/status.ts'
import type { Upstreams } from '../../upstreams/upstreams.ts'
import type { VendorBill } from '../../vendor-bill/vendor-bill.ts'

export type OperatorSettings = {
  readonly consoleUrl: string
  /** A path, or `default`. */
  readonly sessionFile: string
  /** An unattended token, or `none`. */
  readonly token: Masked<string>
}

export type OperatorModules = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Pick<Log, 'fatal'>
  readonly staff: Staff
  readonly config: { readonly operators: OperatorSettings; readonly brand: EmailBrand }
  readonly acts: Pick<Acts, 'record' | 'commandOf' | 'list' | 'audit' | 'health'>
  readonly ledger: Ledger
  readonly keys: Keys
  readonly accounts: Accounts
  readonly payments: Payments
  readonly pricing: Pricing
  readonly mail: Mail
  readonly upstreams: Upstreams
  readonly vendorBill: VendorBill
  readonly reports: Reports
  readonly status: Pick<StatusPage, 'read' | 'incidents' | 'components' | 'health'>
  /** The settings of secrets that may have a successor, and that operators' commands read. */
  readonly keySecrets: Readonly<Record<'tag' | 'lookup', SecretVersions>>
  /** The file of `catalogue.vendorPricesFile`, or `none`. */
  readonly vendorPricesFile: string
  /** `ledger.entriesKeptDays`. */
  readonly entriesKeptDays: number
  /** Closes every connection. */
  close(): Promise<void>
}
