// op spool: spools of processes that were lost, such as with a node that was scaled down. Charges
// may wait in their files until a process that can reach the directory sends them.
import { stat } from 'node:fs/promises'
import type { LostSpool, Replayed } from '../ledger/ledger.ts'
import type { InstanceId } from '../platform/ids.ts'
import { formatCount, formatTime } from './desk/amounts.ts'
import { commandError, EXIT_DONE, EXIT_FAILED } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'

/** Exits with 1 when a spool is out of reach. */
export async function listSpools(desk: Desk): Promise<number> {
  const lost = await desk.modules.ledger.lostSpools()
  desk.say({ spools: lost }, spoolLines(lost))
  return lost.length === 0 ? EXIT_DONE : EXIT_FAILED
}

/** Exits with 1 when charges stay in the files. */
export async function adoptSpools(desk: Desk, directory: string): Promise<number> {
  const { ledger } = desk.modules
  const isDirectory = await stat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isDirectory) throw commandError(`${directory} is not a directory on this machine`)
  let stays = 0
  const code = await desk.actWithOwnTransactions({
    plan: [
      `spool files in ${directory}`,
      '  those of dead processes are sent to the ledger, each charge once, and then removed',
    ],
    work: () => ledger.replayDirectory(directory),
    report: (replayed) => {
      stays = replayed.unsent + replayed.left
      return { result: { directory, ...replayed }, line: adoptedLine(replayed) }
    },
  })
  return stays > 0 ? EXIT_FAILED : code
}

function adoptedLine({ settles, unsent, files, left }: Replayed): string {
  const parts = [`charges sent: ${formatCount(settles)}`]
  if (unsent > 0) parts.push(`refused by the database: ${formatCount(unsent)}, still in the files`)
  else parts.push(`files removed: ${formatCount(files)}`)
  if (left > 0) parts.push(`files of another cell or version, or damaged: ${formatCount(left)}`)
  return parts.join(', ')
}

export async function forgetSpool(desk: Desk, text: string): Promise<number> {
  const { ledger } = desk.modules
  const spool = (await ledger.lostSpools()).find(({ instance }) => String(instance) === text)
  if (spool === undefined) throw commandError(`no lost spool of ${text}; op spool list has them`)
  return desk.actWithOwnTransactions({
    plan: [
      ...spoolLines([spool]),
      '  it is forgotten: charges in it, if there are any, are lost for good',
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    typeAgain: spool.host,
    work: () => ledger.forgetSpool(spool.instance as InstanceId),
    report: () => ({
      result: { spool },
      line: `${text}: the spool in ${spool.directory} of ${spool.host} is forgotten`,
    }),
  })
}

/** For op audit too. */
export function spoolLines(lost: readonly LostSpool[]): string[] {
  if (lost.length === 0) return ['no spool is out of reach']
  return lost.flatMap(({ instance, role, host, directory, lostAt }) => [
    `spool out of reach: ${directory} of ${host}`,
    `  ${role} ${instance}, lost since ${formatTime(lostAt)}; op spool adopt where it can be read`,
  ])
}
