// The sessions of the owner's coding agents and the owner's labels, with what each agent used.
import { z } from 'zod'
import type { Ledger, SessionFigures, UsageSession } from '../../../ledger/ledger.ts'
import type * as contract from '../../contract/sessions.ts'
import { CabinetRefusal } from '../../refusals.ts'
import { timeOf } from '../amounts.ts'
import type { RouteTable } from '../routes.ts'
import { amountsUsed } from './amounts-used.ts'
import { clientId, entryNumber } from './log.ts'
import type { UsageReads } from './reads.ts'

const PAGE = 50
const PAGE_MAX = 200

const kind = z.enum(['session', 'label']).optional()

export function sessionRoutes({
  ledger: {
    usage: { sessions },
  },
  reads,
}: {
  readonly ledger: Pick<Ledger, 'usage'>
  readonly reads: UsageReads
}): RouteTable<keyof contract.SessionRoutes> {
  return {
    'GET /api/usage/sessions': {
      session: 'required',
      query: z.object({
        kind,
        before: entryNumber,
        limit: z.coerce.number().int().min(1).max(PAGE_MAX).optional(),
      }),
      async run({ session, query }) {
        const { book } = session
        const asked = {
          ...{ book, kind: query.kind ?? 'session', limit: query.limit ?? PAGE },
          before: query.before === undefined ? null : BigInt(query.before),
        }
        const page = await reads.inTurn(book, () => sessions.page(asked))
        return {
          lines: page.sessions.map(lineOf),
          next: page.next === null ? null : String(page.next),
          keptDays: sessions.keptDays,
        }
      },
    },

    'GET /api/usage/session': {
      session: 'required',
      query: z.object({ id: clientId, kind }),
      async run({ session, query }) {
        const one = { book: session.book, kind: query.kind ?? 'session', id: query.id } as const
        const found = await reads.inTurn(one.book, () => sessions.find(one))
        if (found === undefined) {
          throw new CabinetRefusal('usage_session_unknown', 'There is no such session.')
        }
        const { agents, others, ...line } = found
        return {
          line: lineOf(line),
          agents: agents.map(({ id, parentId, ...used }) => ({
            ...{ id, parentId, ...figuresOf(used) },
          })),
          others: others && { agents: others.agentCount, ...figuresOf(others) },
        }
      },
    },
  }
}

function lineOf({ id, kind: of, agentCount, ...used }: UsageSession): contract.UsageSessionLine {
  return { id, kind: of, agents: agentCount, ...figuresOf(used) }
}

function figuresOf(used: SessionFigures): contract.SessionFigures {
  return {
    ...amountsUsed(used),
    firstAt: timeOf(used.firstAt),
    lastAt: timeOf(used.lastAt),
    busyMs: String(used.busyMs),
    models: used.models,
  }
}
