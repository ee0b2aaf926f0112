// Commands about customers: finding, reading, keys, access, e-mails, and what operators did.
import { revoke, suspend, unsuspend } from '../access.ts'
import { acts } from '../acts.ts'
import { listBusiest } from '../busiest.ts'
import { closeAccount, listClosings } from '../closings.ts'
import { find } from '../find/find.ts'
import { statement } from '../find/statement.ts'
import { importKeys } from '../import-keys.ts'
import { outbox, retryMail, testMail } from '../mail.ts'
import { erase, exportPerson } from '../personal-data/personal-data.ts'
import { listRefused } from '../refused.ts'
import { inviteCustomer } from '../registrations/invite.ts'
import {
  deleteRegistration,
  listRegistrations,
  resendRegistration,
} from '../registrations/registrations.ts'
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
    usage: 'close <whom>',
    permission: 'payments.decide',
    readsPersonalData: true,
    description: 'begin to close an account: requests end, unspent credits go back, it closes',
    options: [REASON, ['--forfeit', 'refund nothing: the unspent credits are forfeited']],
    run: closeAccount,
  },
  {
    usage: 'closings',
    permission: 'customers.read',
    readsPersonalData: true,
    description: 'accounts that are closing, oldest first, and what each waits for',
    options: [['--limit <n>', 'how many; 100 without it']],
    run: listClosings,
  },
  {
    usage: 'export <whom>',
    permission: 'customers.papers',
    readsPersonalData: true,
    description: 'everything that is kept about a person, in one JSON file',
    options: [REASON, ['--file <path>', 'where; else the id of the account, .json']],
    run: exportPerson,
  },
  {
    usage: 'erase <whom>',
    permission: 'customers.papers',
    readsPersonalData: true,
    description: 'erase the person of a closed account before its term; for good',
    options: [REASON],
    run: erase,
  },
  {
    usage: 'import-keys',
    permission: 'installation.change',
    description: 'read lines of "<e-mail, account or book> <key>" from standard input',
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
    usage: 'accounts create <email>',
    permission: 'customers.change',
    readsPersonalData: true,
    description: 'invite a person, who sets the password by the link in the e-mail',
    options: [REASON, ['--language <name>', 'of the e-mail: ru (default) or en']],
    run: inviteCustomer,
  },
  {
    usage: 'registrations list [text]',
    permission: 'customers.read',
    readsPersonalData: true,
    isDefault: true,
    description: 'registrations without confirmation, and what became of their e-mails',
    options: [LIMIT],
    run: listRegistrations,
  },
  {
    usage: 'registrations resend <registration>',
    permission: 'customers.change',
    readsPersonalData: true,
    description: 'send the e-mail again, with a new link; by id or e-mail address',
    run: resendRegistration,
  },
  {
    usage: 'registrations delete <registration>',
    permission: 'customers.change',
    readsPersonalData: true,
    description: 'forget a registration; its link stops. By id or e-mail address',
    options: [REASON],
    run: deleteRegistration,
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
