// op export and op erase: what a person may ask by law. The export writes one file with everything
// that is kept, page by page, so millions of entries take little memory. The erasure takes the
// person of a closed account away before its term; money and its documents stay under the
// account's id, which then leads to nobody.
import { open, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { formatTime } from '../desk/amounts.ts'
import { commandError, EXIT_DONE } from '../desk/command-error.ts'
import { customerName, findCustomer } from '../desk/customer.ts'
import type { Desk } from '../desk/desk.ts'

export async function exportPerson(desk: Desk, text: string): Promise<number> {
  const { accounts } = desk.modules
  const customer = await findCustomer(desk, text)
  const { account } = customer
  if (account === undefined) throw commandError(`${customerName(customer)} has no person`)
  const { id, book } = account
  const path = resolve(desk.text('file') ?? `${id}.json`)
  return desk.actWithOwnTransactions({
    plan: [
      customerName(customer),
      `  everything that is kept about the person, into ${path}`,
      '  the file has addresses, payments and devices: send it to nobody else, then delete it',
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    work: () => writeFile(path, accounts.export({ account: id, book })),
    report: (bytes) => ({
      result: { account: id, file: path, bytes },
      line: `${bytes} bytes about ${id} were written`,
    }),
  })
}

/** Readable by its owner only; an existing file is not overwritten, half a file is removed. */
async function writeFile(path: string, parts: AsyncIterable<string>): Promise<number> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw commandError(`${path} cannot be written: ${error.code ?? error.message}`)
  })
  let bytes = 0
  try {
    for await (const part of parts) {
      bytes += Buffer.byteLength(part)
      await file.write(part)
    }
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
  return bytes
}

export async function erase(desk: Desk, text: string): Promise<number> {
  const { accounts } = desk.modules
  const customer = await findCustomer(desk, text)
  const { account } = customer
  if (account === undefined) throw commandError(`${customerName(customer)} has no person to erase`)
  const { id, book, email, closedAt, erasedAt } = account
  if (closedAt === null && (await accounts.closings.find(id)) !== undefined) {
    throw commandError(`${customerName(customer)} is closing: op closings says what it waits for`)
  }
  if (closedAt === null) {
    throw commandError(
      `${customerName(customer)} is not closed; close it first: op close ${id} --reason …`,
    )
  }
  if (erasedAt !== null) {
    desk.say({ isDone: false, account: id, isErased: true }, [`${id} was erased before`])
    return EXIT_DONE
  }
  const owner = { account: id, book }
  const needs = await accounts.erasureNeeds(owner)
  if (needs.length > 0) {
    throw commandError([`${customerName(customer)} cannot be erased yet:`, ...needs].join('\n  '))
  }
  return desk.act({
    plan: [
      `${customerName(customer)}, closed ${formatTime(closedAt)}`,
      '  its address and what people typed about it go, for good: consents, devices, letters,',
      '  payment methods, reasons, notes, names of sessions and labels; nothing brings them back',
      '  amounts, orders and the statement stay, under the id of the account',
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    needs: { kind: 'erasure', size: 1n },
    typeAgain: email,
    work: () => accounts.beforeErase(owner),
    // Before it the record's text still finds the person, and names the account instead.
    afterRecord: (tx) => accounts.eraseNow(tx, owner),
    report: () => ({ result: { account: id, book }, line: `${id} is erased` }),
  })
}
