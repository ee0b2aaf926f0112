// What the person on call looks at: every credential at its upstream, and the alarms that are on.
import { dateAt } from '../../../platform/clock.ts'
import type { UpstreamLine } from '../../../upstreams/upstreams.ts'
import { readAlarms } from '../../alarms/alarms.ts'
import type { OperatorModules } from '../../desk/modules.ts'
import type * as contract from '../contract/health.ts'
import type { RouteTable } from '../routes.ts'
import { timeOf } from './amounts.ts'
import { remember } from './remember.ts'

/** The pages ask every ten seconds; an alarm is about minutes. */
const ALARMS_MS = 5_000

type HealthRoute = 'GET /api/credentials' | 'GET /api/alarms'

export function healthRoutes(modules: OperatorModules): RouteTable<HealthRoute> {
  const { clock, upstreams } = modules
  const alarms = remember(clock, ALARMS_MS, async () => {
    const found = await readAlarms(modules)
    return { at: timeOf(dateAt(clock.nowMs())), ...found }
  })
  return {
    'GET /api/credentials': {
      access: 'upstreams.read',
      isPolled: true,
      run: async () => {
        const nowMs = clock.nowMs()
        const lines = await upstreams.overview()
        return { credentials: lines.map((line) => credentialOf(line, nowMs)) }
      },
    },
    'GET /api/alarms': { access: 'health.read', isPolled: true, run: alarms },
  }
}

function credentialOf(line: UpstreamLine, nowMs: number): contract.Credential {
  const { state, out, isAdded: _, models, changedAt, ...rest } = line
  return {
    ...{ ...rest, state: out ?? state },
    // `2026-11-18 12:00:00 UTC`, as the database writes it.
    changedAt: changedAt === null ? null : changedAt.replace(' ', 'T').replace(' UTC', 'Z'),
    models: models.map(({ limits, coolingSeconds, ...model }) => ({
      ...model,
      coolingUntil: coolingSeconds > 0 ? timeOf(dateAt(nowMs + coolingSeconds * 1_000)) : null,
      limits: Object.entries(limits).map(([kind, { left, limit }]) => ({ kind, left, limit })),
    })),
  }
}
