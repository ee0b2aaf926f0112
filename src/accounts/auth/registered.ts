// Signs in the browser that has just confirmed its own registration, without asking for the
// password again: it was given there, and the registration knows when. Only
// registration/registration.ts calls this path; requests of browsers cannot reach it.
import { APIError, createAuthEndpoint } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { z } from 'zod'
import { REGISTERED_PATH } from '../dependencies.ts'

/** `passwordAt`: when the password was chosen, as a time of JSON. */
export const registeredShape = z.object({ account: z.string(), passwordAt: z.iso.datetime() })

export function registered() {
  return {
    id: 'registered',
    endpoints: {
      signInRegistered: createAuthEndpoint(
        REGISTERED_PATH,
        { method: 'POST', body: registeredShape },
        async (ctx) => {
          const { internalAdapter } = ctx.context
          const user = await internalAdapter.findUserById(ctx.body.account)
          if (user === null) throw new APIError('UNAUTHORIZED', { code: 'USER_NOT_FOUND' })
          const session = await internalAdapter.createSession(user.id)
          await setSessionCookie(ctx, { session, user })
          return ctx.json({ user: { id: user.id } })
        },
      ),
    },
  }
}
