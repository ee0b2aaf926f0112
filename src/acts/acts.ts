// The entry file of acts: what operators did, in a list that shows what was changed or erased. A
// worker checks it twice a minute and sends it to a copy; README.md has the rules.
import type { Clock } from '../platform/clock.ts'
import { type CopyAddress, readCopyAddress } from '../platform/copy-address.ts'
import type { Db, Executor } from '../platform/db/db.ts'
import type { Log } from '../platform/log.ts'
import type { Masked } from '../platform/masked.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'
import type { BlockedWork } from '../platform/worker/blocked-work.ts'
import { createIntervalLoops } from '../platform/worker/interval-loops.ts'
import { type Mark, START } from './chain.ts'
import { openCopy } from './copies/copies.ts'
import {
  type About,
  type ActRow,
  actCommand,
  actCountBreakGlass,
  actInsert,
  actList,
  chainEnd,
  copyFind,
  type TableCounts,
  tableCounts,
  unshippedSeconds,
} from './queries.ts'
import { createShipping } from './shipping.ts'
import { verifyDefinitions, verifyFunctions, verifyTriggers } from './triggers.ts'
import { changedTables, UNCHANGING } from './unchanged.ts'
import { type ActFinding, type ActRule, actRules, verifyChain, verifyMark } from './verify.ts'

export type { Outcome } from './chain.ts'
export type { About, ActRow } from './queries.ts'
export type { ActFinding, ActRule } from './verify.ts'

export type ActsOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  /** A value that readCopyAddress accepts. */
  readonly shipTo: string
  readonly shipSecret: Masked<string>
  readonly shipSeconds: number
  readonly checkSeconds: number
  readonly blockedWork?: BlockedWork
}

/** The texts are cut by the database, after it has replaced addresses: half of one would stay. */
const TEXT_MAX = 20_000

const WHOLE_MS = 24 * 3_600_000

/** What a check saw, in this process's memory, where nobody with a password can change it. */
type Seen = {
  readonly mark: Mark
  readonly counts: readonly TableCounts[]
  readonly wholeMs: number
}

/** Where the copy ends, or why it was not read. */
type CopyRead = { readonly last?: Mark; readonly unread?: string }

export function createActs(options: ActsOptions) {
  const { db, clock, log } = options
  const copy = openCopy(readCopyAddress(options.shipTo) as CopyAddress, options.shipSecret)
  const shipping = copy && createShipping({ db, clock, copy, name: options.shipTo })
  const state = {
    seen: undefined as Seen | undefined,
    /** Of the last check. */
    findings: [] as readonly ActFinding[],
    checkedMs: clock.spanMs(),
    /** When the definitions were compared last. */
    definedMs: clock.spanMs(),
    isShipping: true,
  }
  // From zero on: Prometheus sees no increase in a number that appears.
  const counts = new Map<ActRule, number>(actRules.map((rule) => [rule, 0]))

  function count(findings: readonly ActFinding[], known: readonly ActFinding[] = []): void {
    const old = new Set(known.map(({ rule, subject }) => `${rule} ${subject}`))
    for (const { rule, subject } of findings) {
      if (!old.has(`${rule} ${subject}`)) counts.set(rule, (counts.get(rule) ?? 0) + 1)
    }
    for (const finding of findings) log.fatal({ ...finding }, 'acts or triggers were tampered with')
  }

  /** What the copy has, or why that is not known. `sent` is the last act that was sent to it. */
  async function readCopy(sent: Mark | undefined): Promise<CopyRead> {
    if (copy === undefined) return { unread: 'there is none' }
    try {
      const last = await copy.last()
      if (last === 'unreadable') return { unread: 'it cannot be read back' }
      if (last !== undefined || (sent?.number ?? 0n) === 0n) return { last: last ?? START }
      return { unread: `it is empty, and act ${sent?.number} was sent to it` }
    } catch (error) {
      return { unread: error instanceof Error ? error.message : String(error) }
    }
  }

  /**
   * Checks definitions; then triggers, marks, and the chain after what this process has seen, or
   * all of it, at one moment of the database.
   */
  async function verify(seen: Mark | undefined, isWhole: boolean) {
    const sent = await copyFind(db, options.shipTo)
    const copied = await readCopy(sent)
    const marks: [string, Mark | undefined][] = [
      ['the copy', copied.last],
      ['the record of what was sent', sent],
    ]
    const defined = await verifyDefinitions(db)
    if (defined.isCompared) state.definedMs = clock.spanMs()
    return db.snapshot(async (tx) => {
      const found = [
        ...(await verifyTriggers(tx)),
        ...(await verifyFunctions(tx)),
        ...defined.findings,
      ]
      for (const [seenBy, mark] of marks) found.push(...(await verifyMark(tx, mark, seenBy)))
      const contradictions = await verifyMark(tx, seen, 'this process')
      const from = isWhole || contradictions.length > 0 ? undefined : seen
      const { last, findings } = await verifyChain(tx, from)
      return { last, copied, findings: distinct([...found, ...contradictions, ...findings]) }
    })
  }

  /**
   * Whether acts were touched that no check would read. A rolled-back act counts as an insert.
   */
  function hasChanged(seen: Seen, now: Omit<Seen, 'wholeMs'>): boolean {
    const [before, after] = [actCounts(seen.counts), actCounts(now.counts)]
    const inserted = after.inserted - before.inserted
    const isSame = after.changed === before.changed && after.file === before.file && inserted >= 0n
    return !isSame || inserted > now.mark.number - seen.mark.number
  }

  /**
   * Checks what is new. It reads every act if this process has not done so for a day, if rows have
   * changed that never change, or while something is wrong.
   */
  async function check(): Promise<readonly ActFinding[]> {
    const { seen } = state
    const nowMs = clock.spanMs()
    const counts = await tableCounts(db, ['operator_acts', ...UNCHANGING])
    const end = (await chainEnd(db)) ?? START
    const isWhole =
      seen === undefined ||
      state.findings.length > 0 ||
      nowMs - seen.wholeMs > WHOLE_MS ||
      hasChanged(seen, { counts, mark: end })
    const { last, findings: broken } = await verify(seen?.mark, isWhole)
    const findings = [...broken, ...changedTables(seen?.counts ?? [], counts)]
    count(findings, state.findings)
    state.findings = findings
    state.checkedMs = clock.spanMs()
    // What was seen before something was found stays what the next checks compare with.
    const wholeMs = isWhole ? nowMs : seen.wholeMs
    if (findings.length === 0) state.seen = { mark: last, counts, wholeMs }
    return findings
  }

  /** Sends new acts. A copy that does not answer is logged once, and the metric shows its lag. */
  async function ship(): Promise<number> {
    if (shipping === undefined) return 0
    try {
      const { sent, findings } = await shipping.run()
      // The check reports contradictions; that a copy became shorter is seen only here.
      count(findings.filter(({ rule }) => rule === 'copy_shorter'))
      if (!state.isShipping) log.info('acts are sent to their copy again')
      state.isShipping = true
      return sent
    } catch (error) {
      if (state.isShipping) log.error({ err: error }, 'acts cannot be sent to their copy')
      state.isShipping = false
      return 0
    }
  }

  async function health() {
    return {
      breakGlass: await actCountBreakGlass(db),
      unshippedSeconds: copy === undefined ? 0 : await unshippedSeconds(db, options.shipTo),
    }
  }

  const loops = createIntervalLoops(
    [
      { name: 'acts-check', everyMs: options.checkSeconds * 1_000, isImmediate: true, run: check },
      { name: 'acts-ship', everyMs: options.shipSeconds * 1_000, isImmediate: true, run: ship },
    ],
    log,
    options.blockedWork,
  )

  return {
    /** Records an act; the last statement of its transaction. Returns its id. */
    record: (executor: Executor, act: Parameters<typeof actInsert>[1]): Promise<bigint> =>
      actInsert(executor, {
        ...act,
        command: act.command.slice(0, TEXT_MAX),
        detail: act.detail.slice(0, TEXT_MAX),
      }),

    /** What the database has stored of a command: customers by the ids of their accounts. */
    commandOf: (executor: Executor, id: bigint): Promise<string> => actCommand(executor, id),

    /** Acts, newest first, each with its outcome. */
    list: (p: {
      readonly by: string | null
      readonly about: About | null
      readonly limit: number
    }): Promise<ActRow[]> => actList(db, p),

    /** For an operator: every act, the triggers, and the copy if this machine can read it. */
    async audit() {
      const { last, copied, findings } = await verify(undefined, true)
      const { unread } = copied
      const copyRead = { copiedTo: copied.last?.number ?? null, copyUnread: unread ?? null }
      return { acts: last.number, findings, ...copyRead }
    },

    check,
    ship,

    /** The check and the shipping of a worker, at the start and at their intervals. */
    start: loops.start,
    stop: loops.stop,

    /** What every program can read: acts without signing in, and how long the copy waits. */
    health,

    /** The numbers of a worker, which runs the checks. */
    exportWatch({ asyncGauge, counter }: Pick<Metrics, 'asyncGauge' | 'counter'>): void {
      const help = 'The check of operators’ acts: findings, and ages in seconds'
      asyncGauge('acts_watch', help, async () => {
        const { breakGlass, unshippedSeconds: unshipped } = await health()
        return {
          findings: state.findings.length,
          checked_seconds: (clock.spanMs() - state.checkedMs) / 1_000,
          definitions_seconds: (clock.spanMs() - state.definedMs) / 1_000,
          ...{ break_glass: breakGlass, unshipped_seconds: unshipped },
        }
      })
      counter('acts_findings_total', 'What the check of operators’ acts found, by rule', () =>
        Object.fromEntries(counts),
      )
    },
  }
}

export type Acts = ReturnType<typeof createActs>

/** A copy and our own memory may find the same. */
function distinct(findings: readonly ActFinding[]): ActFinding[] {
  const byKey = new Map(findings.map((one) => [`${one.rule} ${one.subject}`, one]))
  return [...byKey.values()]
}

/** PostgreSQL has counted nothing yet if the table is not in the list. */
function actCounts(counts: readonly TableCounts[]) {
  const found = counts.find(({ table }) => table === 'operator_acts')
  return found ?? { inserted: 0n, changed: 0n, file: '' }
}
