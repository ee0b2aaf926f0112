// A stage for the console: the operators' stage with every module real, the console's server on a
// port of its own, and operators of each role who have signed in with their second factor.
import { openConsole } from '../../src/operator/operator.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { Role, StaffSettings } from '../../src/staff/staff.ts'
import { freePorts } from '../../tools/free-port.ts'
import { quiet } from '../support/harness.ts'
import { createOperatorStage } from './operator.ts'

export type ConsoleStage = Awaited<ReturnType<typeof createConsoleStage>>
export type ConsoleAnswer<T = Record<string, unknown>> = {
  readonly status: number
  readonly code: string | undefined
  readonly body: T
  readonly headers: Headers
}

export const ROLES: readonly Role[] = ['viewer', 'support', 'finance', 'admin']

export async function createConsoleStage(
  options: {
    readonly pagesDirectory?: string
    /** A function gets the address of the console, which others may have to know first. */
    readonly settings?:
      | Partial<StaffSettings>
      | ((consoleUrl: string) => Promise<Partial<StaffSettings>>)
  } = {},
) {
  const [port = 0] = await freePorts(1)
  // By host name, not by IP address: passkeys are bound to a host name.
  const consoleUrl = `http://localhost:${port}`
  const { settings } = options
  const own = typeof settings === 'function' ? await settings(consoleUrl) : settings
  const stage = await createOperatorStage({}, { ...own, consoleUrl })
  const modules = {
    ...stage.modules,
    config: { brand: stage.brand, operators: { ...stage.operators, consoleUrl } },
  }
  const brand = { name: 'Gate', cabinetUrl: 'https://cabinet.example.org' }
  const server = openConsole({
    ...{ modules, brand, clock: systemClock, log: quiet, cell: 0 },
    ...{ addressHeader: 'none', trustedProxies: 'none' },
    metrics: { countAnswer: () => undefined },
    pagesDirectory: options.pagesDirectory ?? 'none',
  })
  await server.listen(port, '127.0.0.1')

  /** A request as the console's pages send it, with the cookie of a session. */
  async function send<T = Record<string, unknown>>(
    route: string,
    p: {
      readonly token?: string
      readonly body?: object
      readonly headers?: Readonly<Record<string, string>>
    } = {},
  ): Promise<ConsoleAnswer<T>> {
    const [method = 'GET', path = ''] = route.split(' ')
    const headers = new Headers(p.headers)
    if (p.token !== undefined) headers.set('cookie', `tollgate-console=${p.token}`)
    if (method !== 'GET') {
      headers.set('content-type', 'application/json')
      if (!headers.has('origin')) headers.set('origin', consoleUrl)
    }
    const response = await fetch(`${consoleUrl}${path}`, {
      ...{ method, headers },
      ...(method === 'GET' ? {} : { body: JSON.stringify(p.body ?? {}) }),
    })
    const body = (await response.json()) as T & { error?: { code: string } }
    return { status: response.status, code: body.error?.code, body, headers: response.headers }
  }

  return {
    ...stage,
    ...{ modules, brand, consoleUrl, send },

    /** Runs a command of the console: without a digest, its plan. */
    command: <T = Record<string, unknown>>(
      token: string,
      command: string,
      args: readonly string[],
      given: Readonly<Record<string, string>> = {},
      plan?: string,
    ) =>
      send<T>('POST /api/commands', {
        ...{ token, body: { command, args, options: given, ...(plan !== undefined && { plan }) } },
      }),

    async end() {
      await server.close({ idleMs: 0, limitMs: 1_000 })
      await stage.end()
    },
  }
}
