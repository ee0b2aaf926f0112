// The routes that show figures, queues and acts. Each needs a permission; what they show belongs to
// other modules. Those about one customer are in customers.ts.
import { z } from 'zod'
import type { Permission } from '../../../staff/staff.ts'
import type { OperatorModules } from '../../desk/modules.ts'
import type { RouteTable } from '../routes.ts'
import { listActs } from './acts.ts'
import { timeOf } from './amounts.ts'
import { approvalOf } from './approvals.ts'
import { recordRead } from './record-read.ts'
import { remember } from './remember.ts'
import { todayOf } from './today.ts'
import { readUpstreams } from './upstreams.ts'

/** More than a screen; the list is for looking back a week, `op acts` for more. */
const ACTS = 100
const ACTS_MAX = 500

type ReadRoute =
  | 'GET /api/me'
  | 'GET /api/today'
  | 'GET /api/upstreams'
  | 'GET /api/approvals'
  | 'GET /api/acts'

export type ReadOptions = {
  readonly modules: OperatorModules
  readonly brand: { readonly name: string; readonly cabinetUrl: string }
}

/** What decides which pages and buttons a person sees; the routes check it again. */
const SHOWN: readonly Permission[] = [
  'figures.read',
  'customers.read',
  'acts.read',
  'payments.read',
  'approvals.read',
  'credits.grant',
  'credits.adjust',
  'payments.refund',
  'customers.change',
  'payments.decide',
  'upstreams.drain',
  'month.read',
  'month.seal',
  'checks.run',
  'installation.change',
  'upstreams.read',
  'health.read',
  'prices.read',
  'prices.change',
]

/** The pages ask every ten seconds; at a million requests a day the figures take a second. */
const TODAY_MS = 5_000

export function readRoutes({ modules, brand }: ReadOptions): RouteTable<ReadRoute> {
  const { staff } = modules
  const { reports, clock } = modules
  const today = remember(clock, TODAY_MS, async () => todayOf(await reports.today()))
  return {
    'GET /api/me': {
      access: 'self.use',
      run: async ({ session }) => ({
        ...session.operator,
        permissions: SHOWN.filter((one) => staff.may(session.operator.role, one)),
        brand: brand.name,
        cabinetUrl: brand.cabinetUrl,
        endsAt: timeOf(session.endsAt),
      }),
    },

    'GET /api/today': {
      access: 'figures.read',
      isPolled: true,
      run: today,
    },

    'GET /api/upstreams': {
      access: 'upstreams.read',
      isPolled: true,
      run: async () => ({ upstreams: await readUpstreams(modules) }),
    },

    'GET /api/approvals': {
      access: 'approvals.read',
      async run(visit) {
        await recordRead(staff, visit, 'approvals list')
        const list = await staff.approvals.list()
        return { approvals: list.map((row) => approvalOf(row, visit.session.operator.id)) }
      },
    },

    'GET /api/acts': {
      access: 'acts.read',
      query: z.object({
        by: z.string().min(1).max(100).optional(),
        limit: z.coerce.number().int().min(1).max(ACTS_MAX).optional(),
      }),
      async run(visit) {
        const { by = null, limit = ACTS } = visit.query
        await recordRead(staff, visit, 'acts')
        return { acts: await listActs(modules, { by, about: null, limit }) }
      },
    },
  }
}
