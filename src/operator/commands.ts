// The table of all commands: usage, description, options and function. A command of two words is a
// subcommand of its first word.
import { revoke, suspend, unsuspend } from './access.ts'
import { acts } from './acts.ts'
import { audit } from './audit.ts'
import { listBusiest } from './busiest.ts'
import {
  applyCatalogue,
  checkCatalogue,
  diffCatalogue,
  exportCatalogue,
  listVersions,
} from './catalogue.ts'
import { exportDay, listDays, restoreDay } from './days.ts'
import type { Desk } from './desk/desk.ts'
import { find } from './find/find.ts'
import { statement } from './find/statement.ts'
import { importKeys } from './import-keys.ts'
import { outbox, testMail } from './mail.ts'
import { showMargin } from './margin.ts'
import { listDisputes, loseDispute, openDispute, winDispute } from './money/disputes.ts'
import { adjust, grant } from './money/money.ts'
import { createPromo, endPromo, listPromos } from './money/promo.ts'
import { reconcile } from './money/reconcile.ts'
import { refund } from './money/refund.ts'
import { listReviews, resolveReview } from './money/reviews.ts'
import { listSignals } from './money/signals.ts'
import { listQuarantine, retryQuarantine, writeOffQuarantine } from './quarantine.ts'
import { listRefused } from './refused.ts'
import { checkRestore, repairRestore } from './restore.ts'
import { checkRoles, printRolesSql } from './roles.ts'
import { listSecretKeys, listSecrets } from './secrets.ts'
import { adoptSpools, forgetSpool, listSpools } from './spools.ts'
import { showUpstreamCosts } from './upstream-costs.ts'
import { addCredential, removeCredential, rotateCredential } from './upstream-credentials.ts'
import { drain, listUpstreams, setWeight, undrain } from './upstreams.ts'
import { listUnknownUsage } from './usage.ts'
import { importVendorBill, listVendorBills } from './vendor-bill.ts'

export type OperatorCommand = {
  readonly usage: string
  readonly description: string
  /** 'needed' marks a required option. */
  readonly options?: readonly (readonly [flags: string, says: string, 'needed'?])[]
  run(desk: Desk, ...args: string[]): Promise<number>
}

const REASON = ['--reason <text>', 'why; recorded with the action', 'needed'] as const
const NOTE = ['--note <text>', 'why; recorded with the action', 'needed'] as const
const REF = ['--ref <text>', 'the same reference does it once for an account'] as const
const VENDOR = [
  '--vendor <file>',
  'what the vendor bills; else catalogue.vendorPricesFile',
] as const
const LIMIT = ['--limit <n>', 'how many, newest first'] as const
const FROM = ['--from <day>', 'from the beginning of this day, UTC, or from a moment'] as const
const SINCE = ['--since <moment>', 'the restored moment, or an earlier one', 'needed'] as const
const TO = ['--to <day>', 'to the end of this day, UTC, or to a moment'] as const

/** Descriptions of the first words of two-word commands. */
export const families: Readonly<Record<string, string>> = {
  promo: 'promo codes: list them, make one, end one',
  catalogue: 'prices and packs: versions, and files that are to become one',
  upstreams: 'where requests go: health, credentials, drains, weights',
  accounts: 'accounts under load',
  mail: 'e-mails: the outbox, and a test of the relay',
  reviews: 'money that waits for a person',
  disputes: 'payers who went to their bank',
  quarantine: 'charges that the database refused',
  spool: 'charges on the disks of lost processes',
  restore: 'after the database went back to an earlier moment',
  usage: 'what requests were refused, and what replies reported without a price',
  'vendor-bill': 'what the vendor bills, compared with what we count and sell',
  roles: 'who may do what in the database',
  secrets: 'secrets and their successors: what still depends on which',
  days: 'old days of entries: which left the ledger, and their files',
}

export const commands: readonly OperatorCommand[] = [
  {
    usage: 'find <anything>',
    description: 'an e-mail or part of it, an id of any kind, the end of a key, a promo code',
    run: find,
  },
  {
    usage: 'statement <whom>',
    description: 'the entries of an account, newest first',
    options: [FROM, TO, LIMIT, ['--csv', 'everything an entry has, for a spreadsheet']],
    run: statement,
  },
  {
    usage: 'grant <whom> <credits>',
    description: 'give promo credits; they are never refunded',
    options: [REASON, REF],
    run: grant,
  },
  {
    usage: 'adjust <whom> <credits>',
    description: 'correct a balance, up or down; down at most by what is available',
    options: [REASON, REF, ['--contra <side>', 'loss (default), promo, revenue or clearing']],
    run: adjust,
  },
  {
    usage: 'refund <order>',
    description: 'give back what is unspent of an order',
    options: [REASON, REF, ['--amount <roubles>', 'a part of it']],
    run: refund,
  },
  {
    usage: 'revoke <whom>',
    description: 'end a key at once: by its id or last four, or by its account',
    options: [REASON],
    run: revoke,
  },
  {
    usage: 'suspend <whom>',
    description: 'stop an account: every request gets 403',
    options: [REASON],
    run: suspend,
  },
  {
    usage: 'unsuspend <whom>',
    description: 'let a suspended account go on',
    options: [REASON],
    run: unsuspend,
  },
  {
    usage: 'import-keys',
    description: 'read lines of "<book> <key>" from standard input; store only hashes',
    run: importKeys,
  },
  { usage: 'promo list', description: 'all codes, and how often each was used', run: listPromos },
  {
    usage: 'promo create <code> <credits>',
    description: 'a new code',
    options: [
      ['--times <n>', 'how many accounts may use it', 'needed'],
      ['--until <day>', 'to the end of this day, UTC', 'needed'],
      ['--from <day>', 'not before this day, UTC'],
      ['--purchases <n>', 'only for accounts with this many purchases, none of them refunded'],
      ['--note <text>', 'what it is for'],
    ],
    run: createPromo,
  },
  { usage: 'promo end <code>', description: 'nobody can use it any more', run: endPromo },
  { usage: 'catalogue list', description: 'every version ever applied', run: listVersions },
  {
    usage: 'catalogue check <file>',
    description: 'read a file, say what is wrong or what it has',
    run: checkCatalogue,
  },
  {
    usage: 'catalogue diff <file>',
    description: 'what a file would change, also in money; exit 1 when it would',
    run: diffCatalogue,
  },
  {
    usage: 'catalogue margin',
    description: 'what prices leave after the vendor’s bill; exit 1 when one is a loss',
    options: [
      VENDOR,
      ['--catalogue <file>', 'the prices of a file, not those in force'],
      ['--model <id>', 'of one model only'],
      ['--all', 'every price list, not only the worst of each'],
    ],
    run: showMargin,
  },
  {
    usage: 'catalogue apply <file>',
    description: 'put a file in force as the next version',
    options: [
      ['--note <text>', 'kept with the version'],
      VENDOR,
      ['--sell-below-cost', 'also when a price is below what the vendor bills'],
    ],
    run: applyCatalogue,
  },
  {
    usage: 'catalogue export [version]',
    description: 'print a version as a file; the one in force without a number',
    run: exportCatalogue,
  },
  {
    usage: 'upstreams list',
    description: 'what all processes see of each credential at each upstream',
    run: listUpstreams,
  },
  {
    usage: 'upstreams cost [day]',
    description: 'what a day costs at each upstream, by our counts; today without one',
    options: [VENDOR],
    run: showUpstreamCosts,
  },
  {
    usage: 'upstreams add <name> <credential> <reference>',
    description: 'one more credential there: [bearer:]file:/path or env:NAME, read on every node',
    run: addCredential,
  },
  {
    usage: 'upstreams rotate <target> <reference>',
    description: 'new requests use the secret there; those under way go on with the old one',
    run: rotateCredential,
  },
  {
    usage: 'upstreams drain <name>',
    description: 'no new request goes to an upstream, or to one credential; those under way go on',
    run: drain,
  },
  {
    usage: 'upstreams undrain <name>',
    description: 'requests go there again',
    run: undrain,
  },
  {
    usage: 'upstreams remove <target>',
    description: 'forget a drained credential that was added, or the rotation of another',
    run: removeCredential,
  },
  {
    usage: 'upstreams weight <name> <n>',
    description: 'its share of conversations among those of the same priority; 0: never asked',
    run: setWeight,
  },
  {
    usage: 'accounts busiest',
    description: 'who uses most of what accounts share in all processes, was refused or shed',
    run: listBusiest,
  },
  { usage: 'mail outbox', description: 'what waits, the oldest, what died', run: outbox },
  {
    usage: 'mail test <address>',
    description: 'send an e-mail now and show what the relay answers',
    run: testMail,
  },
  {
    usage: 'reconcile',
    description: 'compare orders with the provider for a period; exit 1 when they differ',
    options: [FROM, TO, ['--apply', 'ask the provider about what was not credited']],
    run: reconcile,
  },
  { usage: 'reviews list', description: 'what waits, oldest first', run: listReviews },
  {
    usage: 'reviews resolve <id> <decision>',
    description: 'credit, refund or dismiss; once',
    options: [NOTE],
    run: resolveReview,
  },
  {
    usage: 'signals',
    description: 'what accounts of one person often share: cards, banks, refunds, tried codes',
    options: [['--days <n>', 'of how many days; 30 without it']],
    run: listSignals,
  },
  { usage: 'disputes list', description: 'open ones first', run: listDisputes },
  {
    usage: 'disputes open <order>',
    description: 'a payer went to the bank: set the unspent part aside',
    options: [
      NOTE,
      ['--amount <roubles>', 'a part of the price'],
      ['--block', 'stop the whole account too'],
    ],
    run: openDispute,
  },
  {
    usage: 'disputes won <order>',
    description: 'the bank decided for us',
    options: [NOTE],
    run: winDispute,
  },
  {
    usage: 'disputes lost <order>',
    description: 'the bank took the money',
    options: [NOTE],
    run: loseDispute,
  },
  {
    usage: 'audit',
    description: 'check every rule of the ledger; exit 1 when something is found',
    run: audit,
  },
  {
    usage: 'quarantine list',
    description: 'those that wait, with the reason',
    run: listQuarantine,
  },
  {
    usage: 'quarantine retry [request]',
    description: 'send all, or those of one request, now; exit 1 when one is refused again',
    run: retryQuarantine,
  },
  {
    usage: 'quarantine write-off <request>',
    description: 'give a charge up: it is not sent again',
    options: [REASON],
    run: writeOffQuarantine,
  },
  {
    usage: 'spool list',
    description: 'spools of lost processes that no process can reach; exit 1 when there is one',
    run: listSpools,
  },
  {
    usage: 'spool adopt <directory>',
    description: 'send the charges in the spool files of a directory',
    run: adoptSpools,
  },
  {
    usage: 'spool forget <process>',
    description: 'a disk is lost for good: stop the alarm',
    options: [REASON],
    run: forgetSpool,
  },
  {
    usage: 'restore check <directories...>',
    description: 'what logs, spools and the provider know and the database lost; exit 1 if any',
    options: [SINCE],
    run: checkRestore,
  },
  {
    usage: 'restore repair <directories...>',
    description: 'bring it back: payments, then charges, each once; revoke replaced keys',
    options: [SINCE],
    run: repairRestore,
  },
  {
    usage: 'usage refused [whom]',
    description: 'refused requests by reason: of an account, or the most of all accounts',
    options: [['--days <n>', 'of how many days; 7 without it'], LIMIT],
    run: listRefused,
  },
  {
    usage: 'usage unknown',
    description: 'usage in replies that the catalogue does not list; exit 1 when there is some',
    options: [['--days <n>', 'of how many days; 30 without it']],
    run: listUnknownUsage,
  },
  {
    usage: 'vendor-bill list',
    description: 'the last days that were compared; exit 1 when one is above the threshold',
    options: [LIMIT],
    run: listVendorBills,
  },
  {
    usage: 'vendor-bill import [file]',
    description: 'compare a usage report, or the vendor’s newest; exit 1 when something differs',
    options: [
      ['--costs <file>', 'the cost report of the same days'],
      VENDOR,
      ['--all', 'every line, not only those that do not tie'],
    ],
    run: importVendorBill,
  },
  {
    usage: 'roles check',
    description: 'compare what each role may do with what it should; exit 1 when it differs',
    run: checkRoles,
  },
  {
    usage: 'roles sql',
    description: 'the SQL that makes the roles and grants their rights',
    run: printRolesSql,
  },
  {
    usage: 'secrets list',
    description: 'how much each secret made; exit 1 when keys are under one that is not accepted',
    run: listSecrets,
  },
  {
    usage: 'secrets keys <secret> <id>',
    description: 'the current keys that a secret made, oldest first: tag or lookup, and its id',
    options: [['--limit <n>', 'how many; 100 without it']],
    run: listSecretKeys,
  },
  {
    usage: 'days list',
    description: 'days that left the ledger, and for how many days partitions exist',
    run: listDays,
  },
  {
    usage: 'days export <day>',
    description: 'write a detached day to ledger.exportDirectory now',
    run: exportDay,
  },
  {
    usage: 'days restore <day>',
    description: 'load an exported day into a table of its own, for reading',
    run: restoreDay,
  },
  {
    usage: 'acts',
    description: 'what operators did',
    options: [
      LIMIT,
      ['--by <name>', 'of one operator only'],
      ['--about <customer>', 'about one account only'],
    ],
    run: acts,
  },
]
