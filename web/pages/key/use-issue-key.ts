// The hook behind the buttons that issue a key: one click at a time, the proofs that the server
// demands, and the result.
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { KeyState, NewKey } from '../../../src/cabinet/contract/contract.ts'
import { useStepUp } from '../../account/StepUp.tsx'
import { homeQuery, keyQuery } from '../../runtime/queries.ts'
import { useMe } from '../../runtime/session.ts'
import { confirmKey, finishIssue, issueKey } from './issue-key.ts'
import { storedKeysQuery } from './stored-keys.ts'

export type KeyIssuing = ReturnType<typeof useIssueKey>

export function useIssueKey(state: KeyState | undefined) {
  const client = useQueryClient()
  const withStepUp = useStepUp()
  const { account } = useMe()
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>()
  const [done, setDone] = useState<'created' | 'reissued'>()
  const [unstored, setUnstored] = useState<NewKey>()
  const isRunning = useRef(false)
  const seen = state?.active?.id

  /** True when the work has ended without an error; false when it failed or is already running. */
  async function runOnce(work: () => Promise<KeyState | undefined>): Promise<boolean> {
    if (isRunning.current) return false
    isRunning.current = true
    setPending(true)
    setError(undefined)
    try {
      const after = await work()
      if (after !== undefined) client.setQueryData(keyQuery.queryKey, after)
      return true
    } catch (caught) {
      setError(caught)
      void client.invalidateQueries({ queryKey: keyQuery.queryKey })
      return false
    } finally {
      void client.invalidateQueries({ queryKey: storedKeysQuery(account).queryKey })
      void client.invalidateQueries({ queryKey: homeQuery.queryKey })
      isRunning.current = false
      setPending(false)
    }
  }

  const showResult = () => setDone(seen === undefined ? 'created' : 'reissued')

  return {
    isPending,
    error,
    done,
    unstored,
    create: () =>
      runOnce(async () => {
        // Asks the browser not to evict our storage; the key is issued whatever it answers.
        void navigator.storage?.persist?.()
        const issued = await withStepUp(() => issueKey(account, seen))
        if (issued.outcome === 'unstored') {
          setUnstored(issued.made)
          return undefined
        }
        if (issued.outcome === 'done') showResult()
        return issued.state
      }),
    finish: (keyId: string) =>
      runOnce(async () => {
        const after = await withStepUp(() => finishIssue(account, keyId))
        showResult()
        return after
      }),
    confirmUnstored: () =>
      runOnce(async () => {
        if (unstored === undefined) return undefined
        const after = await withStepUp(() => confirmKey(unstored.id))
        setUnstored(undefined)
        showResult()
        return after
      }),
  }
}
