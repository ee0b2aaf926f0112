// The routes that show one customer: search, the account, its statement, a request.
import { z } from 'zod'
import { holdIdOf } from '../../../platform/ids.ts'
import type { OperatorModules } from '../../desk/modules.ts'
import type { RouteTable } from '../routes.ts'
import { readAccount, readStatement } from './account.ts'
import type { InTurn } from './in-turn.ts'
import { recordRead } from './record-read.ts'
import { readRequest } from './request.ts'
import { search } from './search.ts'

type CustomerRoute =
  | 'GET /api/search'
  | 'GET /api/accounts/:book'
  | 'GET /api/accounts/:book/statement'
  | 'GET /api/requests/:id'

export function customerRoutes(
  modules: OperatorModules,
  inTurn: InTurn,
): RouteTable<CustomerRoute> {
  const { staff } = modules
  return {
    'GET /api/search': {
      access: 'customers.read',
      query: z.object({ text: z.string().trim().min(1).max(200) }),
      async run(visit) {
        const { text } = visit.query
        await recordRead(staff, visit, `find ${text}`)
        // A vendor's id of a request is looked for in whole days of entries.
        const isLong = text.startsWith('req_') && holdIdOf(text) === undefined
        if (!isLong) return search(modules, text)
        return inTurn(`search ${text}`, () => search(modules, text))
      },
    },

    'GET /api/accounts/:book': {
      access: 'customers.read',
      async run(visit) {
        await recordRead(staff, visit, `find ${visit.params.book}`)
        return readAccount(modules, visit.params.book)
      },
    },

    'GET /api/accounts/:book/statement': {
      access: 'customers.read',
      query: z.object({
        before: z
          .string()
          .regex(/^[1-9]\d{0,17}$/)
          .optional(),
      }),
      async run(visit) {
        await recordRead(staff, visit, `statement ${visit.params.book}`)
        return readStatement(modules, visit.params.book, visit.query.before)
      },
    },

    'GET /api/requests/:id': {
      access: 'customers.read',
      async run(visit) {
        await recordRead(staff, visit, `find ${visit.params.id}`)
        return readRequest(modules, visit.params.id)
      },
    },
  }
}
