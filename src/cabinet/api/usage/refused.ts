// The owner's refused requests of a period, by reason. Owners read reasons, not codes: codes with
// the same remedy are one reason, and a code that this version does not know is `other`.
import { z } from 'zod'
import type { Ledger, RefusedRequests } from '../../../ledger/ledger.ts'
import type * as contract from '../../contract/usage.ts'
import { timeOf } from '../amounts.ts'
import type { RouteTable } from '../routes.ts'
import { periodFields, periodOf } from './period.ts'
import type { UsageReads } from './reads.ts'

const DAYS_DEFAULT = 7
/** As for the chart; counts are kept for less, `keptDays`. */
const DAYS_MAX = 366

/** The codes of docs/errors.md that a request of a known account can get. */
const reasons: Readonly<Record<string, contract.RefusedReason>> = {
  credits_insufficient: 'credits',
  debt_outstanding: 'debt',
  day_limit_reached: 'dayLimit',
  velocity_stopped: 'spendingRate',
  owner_suspended: 'paused',
  operator_blocked: 'blocked',
  key_revoked: 'revokedKey',
  field_invalid: 'invalid',
  thread_unsupported: 'invalid',
  content_type_wrong: 'invalid',
  content_encoding_unsupported: 'invalid',
  method_wrong: 'invalid',
  request_unknown: 'invalid',
  body_broken_off: 'invalid',
  body_too_large: 'tooLarge',
  model_unknown: 'model',
  feature_unpriced: 'feature',
  upstream_refused: 'byModel',
  body_bytes_exhausted: 'overloaded',
  waiting_exhausted: 'overloaded',
  request_shed: 'overloaded',
  key_checks_overloaded: 'overloaded',
  ledger_unavailable: 'overloaded',
  upstream_unavailable: 'overloaded',
  upstream_limited: 'overloaded',
  upstream_unreachable: 'failed',
  upstream_failed: 'failed',
  upstream_overdue: 'failed',
  upstream_misconfigured: 'failed',
  request_overdue: 'failed',
}

export function refusedRoutes({
  ledger: { usage },
  reads,
}: {
  readonly ledger: Pick<Ledger, 'usage'>
  readonly reads: UsageReads
}): RouteTable<'GET /api/refused'> {
  return {
    'GET /api/refused': {
      session: 'required',
      query: z.object(periodFields),
      async run({ session, query }) {
        const limits = { defaultDays: DAYS_DEFAULT, maxDays: DAYS_MAX }
        const { book } = session
        const refused = await reads.inTurn(book, async () => {
          const period = await usage.period(await periodOf(usage, query, limits))
          return usage.refused.list({ book, ...period })
        })
        return { lines: linesOf(refused), keptDays: usage.refused.keptDays }
      },
    },
  }
}

/** `refused` has the latest reason first, and so has the result. */
function linesOf(refused: readonly RefusedRequests[]): contract.RefusedLine[] {
  const byReason = Map.groupBy(refused, ({ reason }) => reasons[reason] ?? 'other')
  return [...byReason].map(([reason, [latest, ...others]]) => ({
    reason,
    requests: String(others.reduce((sum, one) => sum + one.requests, latest?.requests ?? 0n)),
    lastAt: timeOf((latest as RefusedRequests).lastAt),
  }))
}
