// A process of this version whose parent is still of 0.1.0: SIGHUP replaces the processes of such a
// parent by new ones, and the parent stays until its next restart. It does not pass connections on;
// its processes listen through node:cluster, and each message is a word. To be deleted when no
// upgrade from 0.1.0 is supported any more.
import type { Serving } from './member.ts'

/** The option with which a parent of this version starts its processes; `ps` shows the title. */
export const MEMBER_OPTION = '--title=tollgate-gateway'

export const isParentOlder = (): boolean => !process.execArgv.includes(MEMBER_OPTION)

/** The question for metrics, as prom-client asks it in the parent. */
type Question = { readonly type?: string; readonly requestId?: number }

export function joinOlderParent() {
  const drained = Promise.withResolvers<void>()
  const state: { serving: Serving | undefined } = { serving: undefined }

  async function answer({ requestId }: Question): Promise<void> {
    const metrics = [(await state.serving?.metrics()) ?? []]
    process.send?.({ type: 'prom-client:getMetricsRes', requestId, metrics })
  }

  process.on('message', (message: 'drain' | Question) => {
    if (message === 'drain') drained.resolve()
    else if (message.type === 'prom-client:getMetricsReq') void answer(message)
  })
  // Without the parent's socket no connection comes any more.
  process.on('disconnect', () => drained.resolve())
  return {
    drained: drained.promise,
    async serve(serving: Serving): Promise<void> {
      state.serving = serving
      await serving.listen()
      process.send?.('ready')
    },
    reportWait: () => undefined,
    leave: async () => undefined,
  }
}
