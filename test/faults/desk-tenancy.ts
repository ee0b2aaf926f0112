// Nobody reaches in the console what the role may not: every route and every command, for every
// role, without a session, with half a session, with an ended one, and of a disabled person. And
// four eyes are two people: the asker cannot approve, neither in a second session, nor can anybody
// after the plan has changed, and two people who approve at the same moment run it once.
import { commands } from '../../src/operator/commands/commands.ts'
import { CONSOLE_COMMANDS } from '../../src/operator/console/commands.ts'
import { consoleRoutes } from '../../src/operator/console/console.ts'
import type { CommandAnswer } from '../../src/operator/console/contract/contract.ts'
import type { Access } from '../../src/operator/console/routes.ts'
import type { Role } from '../../src/staff/staff.ts'
import { type ConsoleStage, createConsoleStage, ROLES } from '../stages/console.ts'
import type { Drill } from '../support/drill.ts'
import { ensure } from '../support/drill.ts'

/** Above it a grant needs a second person. */
const LIMIT = 100

export const drill: Drill = async ({ isFull, say }) => {
  const stage = await createConsoleStage({ settings: { approveGrantsAbove: LIMIT } })
  try {
    const routes = await everyRoute(stage)
    say(`${routes} requests: each role reached what it may, and nothing else`)
    const run = await everyCommand(stage)
    say(`${run} commands: the same`)
    const rounds = isFull ? 40 : 3
    const approvals = await fourEyes(stage, rounds)
    say(`${approvals} requests for approval: each was run once, by two people`)
    return { routes, commands: run, approvals }
  } finally {
    await stage.end()
  }
}

async function everyRoute(stage: ConsoleStage): Promise<number> {
  const table = Object.entries(consoleRoutes(stage) as Record<string, { access: Access }>)
  const half = await stage.people.operator('half', 'admin')
  const gone = await stage.people.newcomer('gone', 'admin')
  const ended = await stage.people.newcomer('ended', 'admin')
  const whole = {} as Record<Role, string>
  for (const role of ROLES) whole[role] = (await stage.people.newcomer(`a-${role}`, role)).token
  await stage.db.transaction((tx) => stage.staff.people.disable(tx, gone.id))
  await stage.staff.signOut(ended.token)
  let sent = 0
  for (const [name, { access }] of table) {
    const route = name.replace(/:\w+/g, '1')
    const expect = async (token: string | undefined, code: string, who: string) => {
      const answer = await stage.send(route, token === undefined ? {} : { token })
      sent += 1
      const isOpen = code === 'open' ? !STOPPED.includes(String(answer.code)) : answer.code === code
      ensure(isOpen, `${who}: ${route} answers ${code}, not ${answer.code}`)
    }
    if (access === 'public' || access === 'begun') continue
    await expect(undefined, 'operator_session_missing', 'nobody')
    await expect(gone.token, 'operator_session_missing', 'a disabled person')
    await expect(ended.token, 'operator_session_missing', 'an ended session')
    const begun = await stage.staff.signIn({ ...stage.people.caller, ...half })
    await expect(begun.token, 'second_factor_missing', 'half a session')
    for (const role of ROLES) {
      const isAllowed = stage.staff.may(role, access)
      await expect(whole[role], isAllowed ? 'open' : 'permission_missing', role)
    }
  }
  return sent
}

const STOPPED = ['operator_session_missing', 'second_factor_missing', 'permission_missing']

async function everyCommand(stage: ConsoleStage): Promise<number> {
  let sent = 0
  for (const role of ROLES) {
    const { token } = await stage.people.newcomer(`c-${role}`, role)
    for (const { usage, permission } of commands) {
      const name = usage.replaceAll(/ [<[].*$/g, '')
      const { code } = await stage.command(token, name, [])
      sent += 1
      const isOffered = CONSOLE_COMMANDS.includes(name)
      const isAllowed = permission !== null && stage.staff.may(role, permission)
      // A command that needs nothing may begin, and finds nothing to do.
      const begun = usage.includes('<') ? 'field_invalid' : 'command_refused'
      const allowed = isAllowed ? begun : 'permission_missing'
      const expected = isOffered ? allowed : 'command_unknown'
      ensure(code === expected, `${role}: ${name} answers ${expected}, not ${code}`)
    }
  }
  return sent
}

async function fourEyes(stage: ConsoleStage, rounds: number): Promise<number> {
  const asker = await stage.people.newcomer('asker', 'support')
  const others = [
    await stage.people.newcomer('first', 'support'),
    await stage.people.newcomer('second', 'finance'),
  ]
  // A second session of the same person.
  const begun = await stage.staff.signIn({ ...stage.people.caller, ...asker })
  const again = await stage.staff.proveFactor(begun.token, asker.code())
  for (let round = 0; round < rounds; round += 1) {
    const book = String(await stage.newBook())
    const given = { reason: 'x', ref: `round-${round}` }
    const asked = await act(stage, asker.token, 'grant', [book, String(LIMIT + 1)], given)
    ensure(asked === 'asked', `a grant above the limit is asked for, not ${asked}`)
    const id = await newest(stage, asker.token)
    for (const token of [asker.token, again.token]) {
      ensure((await approve(stage, token, id)) === 'command_refused', 'the asker cannot approve')
    }
    const answers = await Promise.all(others.map(({ token }) => approve(stage, token, id)))
    ensure(
      answers.filter((one) => one === 'done').length === 1,
      `one of two people lets it run: ${answers.join()}`,
    )
    const balance = await stage.ledger.balance(BigInt(book) as never)
    ensure(balance?.available === BigInt(LIMIT + 1) * 1_000_000n, 'it was granted once')
  }
  await changedPlan(stage, asker.token, others[0]?.token ?? '')
  return rounds
}

/** The customer of the request has another address since: the plan is another one. */
async function changedPlan(stage: ConsoleStage, asker: string, other: string): Promise<void> {
  const person = await stage.person('changed')
  const given = { reason: 'x', ref: 'changed' }
  await act(stage, asker, 'grant', [person.email, String(LIMIT + 1)], given)
  const id = await newest(stage, asker)
  await stage.db.query(`update accounts set email = 'other@example.org' where id = $1`, [
    person.account,
  ])
  ensure((await approve(stage, other, id)) !== 'done', 'a changed plan does not run')
  const balance = await stage.ledger.balance(person.book)
  ensure(balance?.available === 0n, 'nothing was granted')
}

/** Plans a command and confirms it; the state or the code of the answer. */
async function act(
  stage: ConsoleStage,
  token: string,
  name: string,
  args: readonly string[],
  given: Readonly<Record<string, string>> = {},
): Promise<string> {
  const planned = await stage.command<CommandAnswer>(token, name, args, given)
  if (planned.body.state !== 'plan') return planned.code ?? planned.body.state
  const done = await stage.command<CommandAnswer>(token, name, args, given, planned.body.digest)
  return done.code ?? done.body.state
}

const approve = (stage: ConsoleStage, token: string, id: string) =>
  act(stage, token, 'approvals approve', [id])

async function newest(stage: ConsoleStage, token: string): Promise<string> {
  const { body } = await stage.send<{ approvals: { id: string; state: string }[] }>(
    'GET /api/approvals',
    { token },
  )
  const waiting = body.approvals.find(({ state }) => state === 'waiting')
  ensure(waiting !== undefined, 'the request waits')
  return waiting.id
}
