// Commands about customers: finding, reading, keys, access, e-mails, and what operators did.
import { revoke, suspend, unsuspend } from '../access.ts'
import { acts } from '../acts.ts'
import { listBusiest } from '../busiest.ts'
import { find } from '../find/find.ts'
import { statement } from '../find/statement.ts'
import { importKeys } from '../import-keys.ts'
import { outbox, retryMail, testMail } from '../mail.ts'
import { listRefused } from '../refused.ts'
import { listUnknownUsage } from '../usage.ts'
import { FROM, LIMIT, type OperatorCommand, REASON, TO } from './command.ts'

export const customerCommands: readonly OperatorCommand[] = [
  {
    usage: 'find <anything>',
    permission: 'customers.read',
    readsPersonalData: true,
    description: 'an e-mail or part of it, an id of any kind, the end of a key, a promo code',
    run: find,
  },
  {
    usage: 'statement <whom>',
    permission: 'customers.read',
    readsPersonalData: true,
    description: 'the entries of an account, newest first',
    options: [FROM, TO, LIMIT, ['--csv', 'everything an entry has, for a spreadsheet']],
    run: statement,
  },
  {
    usage: 'revoke <whom>',
    permission: 'customers.change',
    readsPersonalData: true,
    description: 'end a key at once: by its id or last four, or by its account',
    options: [REASON],
    run: revoke,
  },
  {
    usage: 'suspend <whom>',
    permission: 'customers.change',
    readsPersonalData: true,
    description: 'stop an account: every request gets 403',
    options: [REASON],
    run: suspend,
  },
  {
    usage: 'unsuspend <whom>',
    permission: 'customers.change',
    readsPersonalData: true,
    description: 'let a suspended account go on',
    options: [REASON],
    run: unsuspend,
  },
  {
    usage: 'import-keys',
    permission: 'installation.change',
    description: 'read lines of "<book> <key>" from standard input; store only hashes',
    run: importKeys,
  },
  {
    usage: 'accounts busiest',
    permission: 'customers.read',
    readsPersonalData: true,
    description: 'who uses most of what accounts share in all processes, was refused or shed',
    run: listBusiest,
  },
  {
    usage: 'mail outbox',
    permission: 'customers.read',
    readsPersonalData: true,
    description: 'what waits, the oldest, what died',
    run: outbox,
  },
  {
    usage: 'mail retry <letter>',
    permission: 'customers.change',
    readsPersonalData: true,
    description: 'send an e-mail that waits after a failure now',
    run: retryMail,
  },
  {
    usage: 'mail test <address>',
    permission: 'customers.change',
    description: 'send an e-mail now and show what the relay answers',
    run: testMail,
  },
  {
    usage: 'usage refused [whom]',
    permission: 'customers.read',
    readsPersonalData: true,
    description: 'refused requests by reason: of an account, or the most of all accounts',
    options: [['--days <n>', 'of how many days; 7 without it'], LIMIT],
    run: listRefused,
  },
  {
    usage: 'usage unknown',
    permission: 'figures.read',
    isUnattended: true,
    description: 'usage in replies that the catalogue does not list; exit 1 when there is some',
    options: [['--days <n>', 'of how many days; 30 without it']],
    run: listUnknownUsage,
  },
  {
    usage: 'acts',
    permission: 'acts.read',
    readsPersonalData: true,
    description: 'what operators did',
    options: [
      LIMIT,
      ['--by <name>', 'of one operator only'],
      ['--about <customer>', 'about one account only'],
    ],
    run: acts,
  },
]
