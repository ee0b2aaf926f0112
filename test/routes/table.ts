// Tries every route of the contract with every level of a session and every origin on a real
// server, and writes the result as a table. A cell says what the server asks for before it admits
// the request; `yes` means that the route itself has answered.
import { CABINET } from '../stages/accounts.ts'
import { type CabinetStage, createCabinetStage } from '../stages/cabinet.ts'
import { type ContractRoute, contractRoutes } from './contract.ts'
import { createSessions, type SessionLevel, type Sessions, sessionLevels } from './sessions.ts'

const origins = { own: CABINET, foreign: 'https://evil.example.org', none: null } as const
export type Origin = keyof typeof origins
export const originNames = Object.keys(origins) as Origin[]

/** Origin → level → what the server asks for. */
export type Cells = Readonly<Record<Origin, Readonly<Record<SessionLevel, string>>>>
export type RouteCells = ContractRoute & { readonly cells: Cells }

/** Bodies that get past the checks of a route whose proofs depend on what is asked for. */
const bodies: Readonly<Record<string, object>> = {
  'POST /api/key': {},
  'POST /api/key/:id/confirm': {},
  'POST /api/guards/limits': { dayLimit: null, velocity: null },
}
const preparations: Readonly<Record<string, (sessions: Sessions) => Promise<void>>> = {
  // So that the request above makes the limit looser.
  async 'POST /api/guards/limits'(sessions) {
    const own = await sessions.browser('fresh')
    await own.expectOk('POST /api/guards/limits', { dayLimit: '100', velocity: null })
  },
}

export async function measureRoutes(): Promise<readonly RouteCells[]> {
  const stage = await createCabinetStage()
  try {
    const sessions = await createSessions(stage)
    const measured: RouteCells[] = []
    for (const route of contractRoutes()) {
      measured.push({ ...route, cells: await cellsOf(stage, sessions, route.name) })
    }
    return measured
  } finally {
    await stage.end()
  }
}

async function cellsOf(stage: CabinetStage, sessions: Sessions, name: string): Promise<Cells> {
  const cells: Record<string, Record<string, string>> = {}
  for (const origin of originNames) {
    const row: Record<string, string> = {}
    for (const level of sessionLevels)
      row[level] = await cellOf(stage, sessions, name, origin, level)
    cells[origin] = row
  }
  return cells as Cells
}

async function cellOf(
  stage: CabinetStage,
  sessions: Sessions,
  name: string,
  origin: Origin,
  level: SessionLevel,
): Promise<string> {
  await preparations[name]?.(sessions)
  const own = await sessions.browser(level)
  const [method = '', path = ''] = name.replace(/:\w+/, 'x').split(' ')
  const headers = new Headers(own.headers())
  const sent = origins[origin]
  if (sent !== null) headers.set('origin', sent)
  const isGet = method === 'GET'
  if (!isGet) headers.set('content-type', 'application/json')
  // A list is no body of any route, so that the route is not run; accounts/ answers it too early.
  const body = bodies[name] ?? (path.startsWith('/api/auth/') ? {} : [])
  const response = await fetch(`${stage.url}${path}`, {
    method,
    headers,
    ...(isGet ? {} : { body: JSON.stringify(body) }),
  })
  return verdictOf(response, `${name} ${origin} ${level}`)
}

async function verdictOf(response: Response, cell: string): Promise<string> {
  if (response.ok) {
    // A stream of live updates does not end by itself.
    await response.body?.cancel()
    return 'yes'
  }
  const { error } = (await response.json()) as { error: { code: string; needs?: string[] } }
  if (response.status >= 500 || response.status === 429) throw new Error(`${cell}: ${error.code}`)
  if (error.code === 'path_unknown') throw new Error(`${cell} is not served`)
  if (error.code === 'origin_wrong') return 'refused'
  if (error.code === 'session_missing') return 'sign in'
  if (error.code === 'step_up_needed') return (error.needs ?? []).join(' + ')
  return 'yes'
}

const HEAD = `# Cabinet routes

For security reviewers: what the cabinet asks for before it admits a request, measured on a real
server. Made by: npm run routes-table

The account has a second factor. **None**: no session. **Stale**: signed in yesterday. **Password**
and **second factor**: a stale session in which that was proven just now (the second factor together
with the password). **Fresh**: signed in just now. **Shared**: signed in three minutes ago on a
device that is not the owner's own. Cells: \`yes\` admits the request; \`sign in\` and
\`refused\` (wrong origin) do not; the others name what must be proven first
(\`step_up_needed\`). A route with a password in its body checks that one.

| Route | Origin | None | Stale | Password | Second factor | Fresh | Shared |
|---|---|---|---|---|---|---|---|
`

export function renderTable(routes: readonly RouteCells[]): string {
  const lines = routes.flatMap(({ name, cells }) => {
    const byCells = Map.groupBy(originNames, (origin) => Object.values(cells[origin]).join(' | '))
    return [...byCells].map(([row, names]) => `| \`${name}\` | ${originText(names)} | ${row} |`)
  })
  return `${HEAD}${lines.join('\n')}\n`
}

function originText(names: readonly Origin[]): string {
  return names.length === originNames.length ? 'any' : names.join(', ')
}
