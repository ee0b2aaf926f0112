// The e-mail about each month, which an owner can switch off: in the settings, or by its link.
import { z } from 'zod'
import type { Accounts } from '../../accounts/accounts.ts'
import type { RouteTable } from './routes.ts'

export function summaryRoutes({
  accounts: { summaries },
}: {
  readonly accounts: Pick<Accounts, 'summaries'>
}): RouteTable<'POST /api/me/summaries' | 'POST /api/unsubscribe'> {
  return {
    'POST /api/me/summaries': {
      session: 'required',
      body: z.object({ isOn: z.boolean() }),
      async run({ session, body: { isOn } }) {
        await summaries.set(session, isOn)
        return { isOn }
      },
    },

    'POST /api/unsubscribe': {
      session: 'none',
      body: z.object({ code: z.string().max(100) }),
      run: async ({ body }) => ({ isCodeRight: await summaries.unsubscribe(body.code) }),
    },
  }
}
