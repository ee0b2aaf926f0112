// Issuing as the page drives it: one click at a time, a fresh sign-in when the server wants one,
// and what came of it.
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { KeyState, NewKey } from '../../../src/cabinet/contract/contract.ts'
import { useFreshly } from '../../account/Freshly.tsx'
import { homeAsk, keyAsk } from '../../runtime/asks.ts'
import { useMe } from '../../runtime/session.ts'
import { finish, issue, putInForce } from './issue.ts'
import { keptAsk } from './kept.ts'

export type Issuing = ReturnType<typeof useIssuing>

export function useIssuing(state: KeyState | undefined) {
  const client = useQueryClient()
  const freshly = useFreshly()
  const { account } = useMe()
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>()
  const [done, setDone] = useState<'created' | 'reissued'>()
  const [unkept, setUnkept] = useState<NewKey>()
  const guard = useRef(false)
  const seen = state?.active?.id

  /** True when it is over, whatever came of it; false when it failed and may be tried again. */
  async function once(work: () => Promise<KeyState | undefined>): Promise<boolean> {
    if (guard.current) return false
    guard.current = true
    setPending(true)
    setError(undefined)
    try {
      const after = await work()
      if (after !== undefined) client.setQueryData(keyAsk.queryKey, after)
      return true
    } catch (caught) {
      setError(caught)
      void client.invalidateQueries({ queryKey: keyAsk.queryKey })
      return false
    } finally {
      void client.invalidateQueries({ queryKey: keptAsk(account).queryKey })
      void client.invalidateQueries({ queryKey: homeAsk.queryKey })
      guard.current = false
      setPending(false)
    }
  }

  const said = () => setDone(seen === undefined ? 'created' : 'reissued')

  return {
    isPending,
    error,
    done,
    unkept,
    create: () =>
      once(async () => {
        // Storage that the browser may clear by itself is asked to stay; a no changes nothing.
        void navigator.storage?.persist?.()
        const issued = await freshly(() => issue(account, seen))
        if (issued.outcome === 'unkept') {
          setUnkept(issued.made)
          return undefined
        }
        if (issued.outcome === 'done') said()
        return issued.state
      }),
    finish: (keyId: string) =>
      once(async () => {
        const after = await freshly(() => finish(account, keyId))
        said()
        return after
      }),
    confirmUnkept: () =>
      once(async () => {
        if (unkept === undefined) return undefined
        const after = await freshly(() => putInForce(unkept.id))
        setUnkept(undefined)
        said()
        return after
      }),
  }
}
