// Every command, as people type it, in one table: its words and arguments, what it says of itself,
// its options, and who does it. A command of two words belongs to the one of the first word.
import { revoke, suspend, unsuspend } from './access.ts'
import { acts } from './acts.ts'
import { audit } from './audit.ts'
import {
  applyCatalogue,
  checkCatalogue,
  diffCatalogue,
  exportCatalogue,
  listVersions,
} from './catalogue.ts'
import type { Desk } from './desk/desk.ts'
import { find } from './find/find.ts'
import { statement } from './find/statement.ts'
import { importKeys } from './import-keys.ts'
import { outbox, testMail } from './mail.ts'
import { listDisputes, loseDispute, openDispute, winDispute } from './money/disputes.ts'
import { adjust, grant } from './money/money.ts'
import { createPromo, endPromo, listPromos } from './money/promo.ts'
import { reconcile } from './money/reconcile.ts'
import { refund } from './money/refund.ts'
import { listReviews, resolveReview } from './money/reviews.ts'
import { listRefused, removeRefused } from './refused.ts'
import { drain, listUpstreams, undrain, weigh } from './upstreams.ts'

export type OperatorCommand = {
  readonly usage: string
  readonly says: string
  /** A third member marks an option that must be given. */
  readonly options?: readonly (readonly [flags: string, says: string, 'needed'?])[]
  work(desk: Desk, ...args: string[]): Promise<number>
}

const REASON = ['--reason <text>', 'why; kept with the deed', 'needed'] as const
const NOTE = ['--note <text>', 'why; kept with the deed', 'needed'] as const
const REF = ['--ref <text>', 'the same reference does it once for an account'] as const
const LIMIT = ['--limit <n>', 'how many, newest first'] as const
const FROM = ['--from <day>', 'from the beginning of this day, UTC, or from a moment'] as const
const TO = ['--to <day>', 'to the end of this day, UTC, or to a moment'] as const

/** What the first words of two-word commands say of themselves. */
export const families: Readonly<Record<string, string>> = {
  promo: 'promo codes: list them, make one, end one',
  catalogue: 'prices and packs: versions, and files that are to become one',
  upstreams: 'where requests go: health, drains, weights',
  mail: 'letters: the outbox, and a test of the relay',
  reviews: 'money that waits for a person',
  disputes: 'payers who went to their bank',
  refused: 'charges that the database refused',
}

export const commands: readonly OperatorCommand[] = [
  {
    usage: 'find <anything>',
    says: 'an e-mail or part of it, an id of any kind, the end of a key, a promo code',
    work: find,
  },
  {
    usage: 'statement <whom>',
    says: 'the entries of an account, newest first',
    options: [FROM, TO, LIMIT, ['--csv', 'everything an entry has, for a spreadsheet']],
    work: statement,
  },
  {
    usage: 'grant <whom> <credits>',
    says: 'give promo credits; they are never refunded',
    options: [REASON, REF],
    work: grant,
  },
  {
    usage: 'adjust <whom> <credits>',
    says: 'correct a balance, up or down; down at most by what is available',
    options: [REASON, REF, ['--contra <side>', 'loss (default), promo, revenue or clearing']],
    work: adjust,
  },
  {
    usage: 'refund <order>',
    says: 'give back what is unspent of an order',
    options: [REASON, REF, ['--amount <roubles>', 'a part of it']],
    work: refund,
  },
  {
    usage: 'revoke <whom>',
    says: 'end a key at once: by its id or last four, or by its account',
    options: [REASON],
    work: revoke,
  },
  {
    usage: 'suspend <whom>',
    says: 'stop an account: every request gets 403',
    options: [REASON],
    work: suspend,
  },
  {
    usage: 'unsuspend <whom>',
    says: 'let a suspended account go on',
    options: [REASON],
    work: unsuspend,
  },
  {
    usage: 'import-keys',
    says: 'read lines of "<book> <key>" from standard input; store only hashes',
    work: importKeys,
  },
  { usage: 'promo list', says: 'all codes, and how often each was used', work: listPromos },
  {
    usage: 'promo create <code> <credits>',
    says: 'a new code',
    options: [
      ['--times <n>', 'how many accounts may use it', 'needed'],
      ['--until <day>', 'to the end of this day, UTC', 'needed'],
      ['--from <day>', 'not before this day, UTC'],
      ['--note <text>', 'what it is for'],
    ],
    work: createPromo,
  },
  { usage: 'promo end <code>', says: 'nobody can use it any more', work: endPromo },
  { usage: 'catalogue list', says: 'every version ever applied', work: listVersions },
  { usage: 'catalogue check <file>', says: 'read a file, say what is wrong', work: checkCatalogue },
  {
    usage: 'catalogue diff <file>',
    says: 'what a file would change; exit 1 when it would',
    work: diffCatalogue,
  },
  {
    usage: 'catalogue apply <file>',
    says: 'put a file in force as the next version',
    options: [['--note <text>', 'kept with the version']],
    work: applyCatalogue,
  },
  {
    usage: 'catalogue export [version]',
    says: 'print a version as a file; the one in force without a number',
    work: exportCatalogue,
  },
  {
    usage: 'upstreams list',
    says: 'what all processes see of each credential at each upstream',
    work: listUpstreams,
  },
  {
    usage: 'upstreams drain <name>',
    says: 'no new request goes there; those under way go on',
    work: drain,
  },
  { usage: 'upstreams undrain <name>', says: 'requests go there again', work: undrain },
  {
    usage: 'upstreams weight <name> <n>',
    says: 'its share of conversations among those of the same priority; 0: never asked',
    work: weigh,
  },
  { usage: 'mail outbox', says: 'what waits, the oldest, what died', work: outbox },
  {
    usage: 'mail test <address>',
    says: 'send a letter now and show what the relay says',
    work: testMail,
  },
  {
    usage: 'reconcile',
    says: 'compare orders with the provider for a period; exit 1 when they differ',
    options: [FROM, TO, ['--apply', 'ask the provider about what was not credited']],
    work: reconcile,
  },
  { usage: 'reviews list', says: 'what waits, oldest first', work: listReviews },
  {
    usage: 'reviews resolve <id> <decision>',
    says: 'credit, refund or dismiss; once',
    options: [NOTE],
    work: resolveReview,
  },
  { usage: 'disputes list', says: 'open ones first', work: listDisputes },
  {
    usage: 'disputes open <order>',
    says: 'a payer went to the bank: set the unspent part aside',
    options: [
      NOTE,
      ['--amount <roubles>', 'a part of the price'],
      ['--block', 'stop the whole account too'],
    ],
    work: openDispute,
  },
  {
    usage: 'disputes won <order>',
    says: 'the bank decided for us',
    options: [NOTE],
    work: winDispute,
  },
  {
    usage: 'disputes lost <order>',
    says: 'the bank took the money',
    options: [NOTE],
    work: loseDispute,
  },
  {
    usage: 'audit',
    says: 'check every rule of the ledger; exit 1 when something is found',
    work: audit,
  },
  {
    usage: 'refused list',
    says: 'those in the spool directory of this machine',
    work: listRefused,
  },
  {
    usage: 'refused remove <request>',
    says: 'give a charge up: it is not sent again',
    options: [REASON],
    work: removeRefused,
  },
  {
    usage: 'acts',
    says: 'what operators did',
    options: [LIMIT, ['--by <name>', 'of one operator only']],
    work: acts,
  },
]
