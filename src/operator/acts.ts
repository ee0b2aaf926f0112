// op acts: what operators did, newest first. An act without a recorded end is shown as begun: the
// operator must find out whether it took effect. Acts name people by the ids of their accounts; for
// display, the present addresses follow.
import type { AccountId } from '../platform/ids.ts'
import { formatMinute, parseCount } from './desk/amounts.ts'
import { EXIT_DONE } from './desk/command-error.ts'
import { findCustomer } from './desk/customer.ts'
import type { Desk } from './desk/desk.ts'

const ACTS = 20

export async function acts(desk: Desk): Promise<number> {
  const limit = desk.read('limit', parseCount, 'a whole number above 0') ?? ACTS
  const by = desk.text('by') ?? null
  const list = await desk.modules.acts.list({ by, about: await aboutOf(desk), limit })
  const people = await peopleOf(desk, list)
  const lines = list.flatMap((act) => [
    ...[`${act.id}  ${formatMinute(act.at)} UTC  ${whoOf(act)}  ${act.outcome}`],
    `    op ${act.command}`,
    ...(act.detail === '' ? [] : act.detail.split('\n').map((line) => `    ${line}`)),
    ...idsIn(act).flatMap((id) => (people.has(id) ? [`    ${id} is ${people.get(id)}`] : [])),
  ])
  const json = { acts: list, people: Object.fromEntries(people) }
  desk.say(json, lines.length === 0 ? ['nobody has done anything'] : lines)
  return EXIT_DONE
}

function whoOf({ by, osUser }: { readonly by: string; readonly osUser: string }): string {
  return by === osUser ? by : `${by} (${osUser})`
}

async function aboutOf(desk: Desk) {
  const text = desk.text('about')
  if (text === undefined) return null
  const { account, book } = await findCustomer(desk, text)
  return { account: account?.id ?? null, book: book.id }
}

function idsIn({ command, detail }: { readonly command: string; readonly detail: string }) {
  return [...new Set(`${command} ${detail}`.match(/\bacc_[\w-]{16}/g))] as AccountId[]
}

/** The present addresses of the accounts that acts name; none for a closed account. */
async function peopleOf(
  { modules }: Desk,
  list: readonly { readonly command: string; readonly detail: string }[],
): Promise<Map<AccountId, string>> {
  const people = new Map<AccountId, string>()
  for (const id of new Set(list.flatMap(idsIn))) {
    const account = await modules.accounts.find(id)
    if (account !== undefined) people.set(id, account.email)
  }
  return people
}
