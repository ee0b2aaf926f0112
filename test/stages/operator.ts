// A stage for operators: every module real, the bank's stand-in and a mailbox behind them, and a
// terminal that keeps its lines and answers from a list. A command is run as typed,
// in this process; a few tests run whole processes instead. Commands have modules of their own,
// which connect to the database as the operator's role; the stage's connect as the owner.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createActs } from '../../src/acts/acts.ts'
import { createKeys } from '../../src/keys/keys.ts'
import { createOperator, type OperatorModules, type Terminal } from '../../src/operator/operator.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { newInstanceId } from '../../src/platform/ids.ts'
import { createLog } from '../../src/platform/log.ts'
import { createMail } from '../../src/platform/mail/mail.ts'
import { Masked } from '../../src/platform/masked.ts'
import { secretVersionsOf } from '../../src/platform/secret-versions.ts'
import { createPricing } from '../../src/pricing/pricing.ts'
import { createReports } from '../../src/reports/reports.ts'
import { createStaff, type StaffSettings } from '../../src/staff/staff.ts'
import { createUpstreams } from '../../src/upstreams/upstreams.ts'
import { createVendorBill } from '../../src/vendor-bill/vendor-bill.ts'
import { startMailbox } from '../../stand-ins/mailbox/mailbox.ts'
import { urlAs } from '../../tools/program-roles.ts'
import { createTestLedger, keySettings, quiet } from '../support/harness.ts'
import { createCabinetStage } from './cabinet.ts'
import { upstreamDefaults } from './data-plane.ts'
import { brand } from './payments.ts'
import { createPeople, staffSettings } from './staff.ts'

export type OperatorStage = Awaited<ReturnType<typeof createOperatorStage>>
/** `said` is what the command has written to standard error before. */
export type Answer =
  | string
  | ((question: string, said: readonly string[]) => string | Promise<string>)
export type Typed = {
  readonly code: number
  readonly out: string
  readonly err: string
  /** Both, as a terminal shows them. */
  readonly all: string
}

class Ended extends Error {}

const NONE = new Masked('none')

export async function createOperatorStage(
  options: Parameters<typeof createCabinetStage>[0] = {},
  settings: Partial<StaffSettings> = {},
) {
  const stage = await createCabinetStage(options)
  const mailbox = await startMailbox()
  const url = urlAs(stage.database.url, 'tollgate_operator')
  const { spoolDirectory } = stage.ledger
  const ledger = await createTestLedger(url, { spoolDirectory }, { isStarted: false })
  const { db } = ledger
  const base = { db, clock: systemClock, log: quiet }
  const upstreams = createUpstreams({
    upstreams: ['east', 'west'].map((name) => ({
      ...upstreamDefaults,
      ...{ name, url: 'http://127.0.0.1:9', keys: [new Masked(`${name} secret`)] },
    })),
    ...{ ...base, instance: newInstanceId() },
  })
  const mail = createMail({
    ...{ ...base, brand, from: 'Gate <letters@gate.example>' },
    smtpUrl: new Masked(mailbox.smtpUrl),
  })
  const keys = createKeys({ ...base, ledger, ...keySettings })
  const pricing = createPricing(base)
  const payments = stage.open({ db, ledger, mail })
  const guards = stage.openGuards({ db, ledger, mail })
  const accounts = stage.openAccounts({ db, keys, ledger, guards, payments, mail })
  const vendorBill = createVendorBill({
    ...{ db, clock: systemClock, ledger, pricing },
    ...{ url: 'none', key: new Masked('none'), upstreams: 'all', alarmPercent: 1 },
    vendorPricesFile: 'none',
  })
  const reports = createReports({
    ...{ ...base, ledger, payments, vendorBill, upstreams },
    ...{ timeZone: 'Europe/Moscow', vatCode: 1 },
  })
  const acts = createActs({
    ...{ db, clock: systemClock, log: quiet, shipTo: 'none', shipSecret: new Masked('none') },
    ...{ shipSeconds: 5, checkSeconds: 60 },
  })
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-operator-'))
  const staff = createStaff({
    ...{ db, clock: systemClock, name: 'Gate', settings: { ...staffSettings, ...settings } },
  })
  const people = createPeople(staff, stage.db, systemClock)
  const fatal: string[] = []
  const { consoleUrl } = staffSettings
  const operators = { consoleUrl, sessionFile: join(directory, 'session'), token: NONE }
  const modules: OperatorModules = {
    ...{ staff, status: stage.openStatus(db), config: { operators, brand } },
    log: createLog({ level: 'fatal', destination: { write: (line) => void fatal.push(line) } }),
    ...{ db, clock: systemClock, ledger, keys, accounts, payments, pricing, mail, upstreams },
    ...{ acts, vendorBill, reports, vendorPricesFile: 'none', entriesKeptDays: 400 },
    keySecrets: {
      tag: secretVersionsOf(keySettings.tagSecret),
      lookup: secretVersionsOf(keySettings.lookupSecret),
    },
    close: async () => undefined,
  }

  /** Runs a command as typed; `answer` is the input for its question, or makes one for each. */
  async function op(
    args: readonly string[],
    answer?: Answer,
    changes: Partial<OperatorModules> = {},
    look: Partial<Pick<Terminal, 'columns' | 'hasColours' | 'isInteractive'>> = {},
  ): Promise<Typed> {
    const out: string[] = []
    const err: string[] = []
    const all: string[] = []
    const left = { code: -1 }
    const ask = async (question: string) => {
      err.push(question)
      all.push(question)
      return typeof answer === 'function' ? answer(question, err) : answer
    }
    const terminal: Terminal = {
      print(text) {
        out.push(text)
        all.push(text)
      },
      note(text) {
        err.push(text)
        all.push(text)
      },
      ...{ ask, askHidden: ask },
      lines: () => linesOf(typeof answer === 'string' ? answer : ''),
      columns: 80,
      hasColours: false,
      isInteractive: true,
      ...look,
      setExitCode(code) {
        left.code = code
      },
      exitNow(code) {
        left.code = code
        throw new Ended()
      },
    }
    try {
      const changed = { ...modules, ...changes }
      await createOperator(async () => changed, terminal).parseAsync(args, { from: 'user' })
    } catch (error) {
      if (!(error instanceof Ended)) throw error
    }
    return { code: left.code, out: out.join('\n'), err: err.join('\n'), all: all.join('\n') }
  }

  return {
    ...stage,
    ...{ mailbox, upstreams, op, staff, people, fatal, operators },
    /** The commands' own modules, for a test that changes a setting. */
    modules,

    /** Runs a command as an operator who has signed in, with a session file of their own. */
    async opAs(token: string, args: readonly string[], answer?: Answer): Promise<Typed> {
      const sessionFile = join(directory, token.slice(0, 12))
      await writeFile(sessionFile, token, { mode: 0o600 })
      const config = { brand, operators: { ...operators, sessionFile } }
      return op(args, answer, { config })
    },

    /** The object that a command prints for scripts. */
    async json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
      const { out } = await op(['--json', '--yes', ...args])
      return JSON.parse(out) as T
    },

    /** What operators did, oldest first: outcome, command, detail. */
    async acts() {
      const { rows } = await stage.db.query(
        `select id, of_act as of, acted_by as by, os_user as "osUser", command, outcome, detail
         from operator_acts order by id`,
      )
      return rows as {
        readonly id: bigint
        readonly of: bigint | null
        readonly by: string
        readonly osUser: string
        readonly command: string
        readonly outcome: string
        readonly detail: string
      }[]
    },

    async end() {
      mail.close()
      await upstreams.close()
      await mailbox.close()
      await ledger.end()
      await stage.end()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.split('\n').filter((line) => line !== '')
}
