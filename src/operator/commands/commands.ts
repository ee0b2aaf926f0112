// The table of all commands: usage, description, options and function. A command of two words is a
// subcommand of its first word.
import type { OperatorCommand } from './command.ts'
import { customerCommands } from './customers.ts'
import { ledgerCommands } from './ledger.ts'
import { moneyCommands } from './money.ts'
import { peopleCommands } from './people.ts'
import { priceCommands } from './prices.ts'
import { recoveryCommands } from './recovery.ts'
import { reportCommands } from './reports.ts'
import { statusCommands } from './status.ts'

/** Descriptions of the first words of two-word commands. */
export const families: Readonly<Record<string, string>> = {
  recover: 'accounts whose owner lost the authenticator or the mailbox',
  promo: 'promo codes: list them, make one, end one',
  catalogue: 'prices and packs: versions, and files that are to become one',
  upstreams: 'where requests go: health, credentials, drains, weights',
  accounts: 'accounts under load, and inviting a customer',
  registrations: 'people who registered or were invited, and have not confirmed',
  mail: 'e-mails: the outbox, and a test of the relay',
  orders: 'orders that hang between us and the provider',
  receipts: 'receipts that the provider could not register',
  reviews: 'money that waits for a person',
  disputes: 'payers who went to their bank',
  incident: 'the public status page: what customers are told',
  quarantine: 'charges that the database refused',
  spool: 'charges on the disks of lost processes',
  restore: 'after the database went back to an earlier moment',
  usage: 'what requests were refused, and what replies reported without a price',
  'vendor-bill': 'what the vendor bills, compared with what we count and sell',
  month: 'the accountant’s months: figures, CSV, seals',
  roles: 'who may do what in the database',
  secrets: 'secrets and their successors: what still depends on which',
  operators: 'the people who run this: roles, invitations, resets',
  tokens: 'unattended tokens of scheduled commands',
  approvals: 'what waits for a second person',
  days: 'old days of entries: which left the ledger, and their files',
}

/** A second spelling of a first word. */
export const familyAliases: Readonly<Record<string, string>> = { accounts: 'account' }

export const commands: readonly OperatorCommand[] = [
  ...customerCommands,
  ...recoveryCommands,
  ...moneyCommands,
  ...priceCommands,
  ...ledgerCommands,
  ...peopleCommands,
  ...reportCommands,
  ...statusCommands,
]
