// What this browser has of the account's key, as the page sees it, and the plain value for the half
// minute that somebody wants to look at it.
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { KeyState } from '../../../src/cabinet/contract/contract.ts'
import { type Kept, KeyringClosed, keptFor, recall, watchKeyring } from '../../runtime/keyring.ts'
import { tidy } from './issue.ts'

export const SHOWN_SECONDS = 30

export const keptAsk = (account: string) =>
  queryOptions({
    queryKey: ['kept', account],
    /** Null: this browser keeps nothing, whatever one does. */
    queryFn: async (): Promise<readonly Kept[] | null> => {
      try {
        return await keptFor(account)
      } catch (error) {
        if (error instanceof KeyringClosed) return null
        throw error
      }
    },
    staleTime: 0,
  })

export type Keeping = {
  /** The key in force is here. */
  readonly hasActive: boolean
  /** A key was kept here and waits to be put in force. */
  readonly hasPending: boolean
  readonly isClosed: boolean
}

/** Undefined until the browser has answered. */
export function useKeeping(account: string, state: KeyState | undefined): Keeping | undefined {
  const client = useQueryClient()
  const { data: kept } = useQuery(keptAsk(account))
  const activeId = state?.active?.id
  const pendingId = state?.pending?.id
  useEffect(
    () =>
      watchKeyring(account, () => {
        void client.invalidateQueries({ queryKey: keptAsk(account).queryKey })
      }),
    [account, client],
  )
  const has = (id: string | undefined) =>
    id !== undefined && kept?.some(({ keyId }) => keyId === id) === true
  const hasOld = kept?.some(({ keyId }) => keyId !== activeId && keyId !== pendingId) === true
  useEffect(() => {
    if (state === undefined || !hasOld) return
    tidy(account).then(
      () => client.invalidateQueries({ queryKey: keptAsk(account).queryKey }),
      // What could not be wiped now opens nothing, and is wiped at the next visit.
      () => undefined,
    )
  }, [account, client, hasOld, state])
  if (kept === undefined) return undefined
  return { hasActive: has(activeId), hasPending: has(pendingId), isClosed: kept === null }
}

export type Reveal = {
  readonly plain: string | undefined
  readonly wasShown: boolean
  /** Until it is hidden again. */
  readonly secondsLeft: number
  readonly show: () => Promise<void>
  readonly hide: () => void
  /** The real value, for copying and saving: it need not be on the page. */
  readonly read: () => Promise<string>
}

/** Hidden again after half a minute, and as soon as nobody looks at the page. */
export function useReveal(account: string, keyId: string): Reveal {
  const client = useQueryClient()
  const [plain, setPlain] = useState<string>()
  const [wasShown, setWasShown] = useState(false)
  const [secondsLeft, setSecondsLeft] = useState(0)
  const timer = useRef(0)

  const hide = useCallback(() => {
    window.clearInterval(timer.current)
    setPlain(undefined)
  }, [])

  const read = useCallback(async () => {
    const value = await recall({ account, keyId })
    if (value !== undefined) return value
    await client.invalidateQueries({ queryKey: keptAsk(account).queryKey })
    throw new KeyringClosed('the key is not here any more')
  }, [account, keyId, client])

  const show = useCallback(async () => {
    const value = await read()
    window.clearInterval(timer.current)
    const endsAt = performance.now() + SHOWN_SECONDS * 1_000
    timer.current = window.setInterval(() => {
      const left = Math.ceil((endsAt - performance.now()) / 1_000)
      if (left <= 0) hide()
      else setSecondsLeft(left)
    }, 250)
    setSecondsLeft(SHOWN_SECONDS)
    setPlain(value)
    setWasShown(true)
  }, [read, hide])

  useEffect(() => {
    const hideIfHidden = () => {
      if (document.visibilityState === 'hidden') hide()
    }
    window.addEventListener('blur', hide)
    window.addEventListener('pagehide', hide)
    document.addEventListener('visibilitychange', hideIfHidden)
    return () => {
      window.removeEventListener('blur', hide)
      window.removeEventListener('pagehide', hide)
      document.removeEventListener('visibilitychange', hideIfHidden)
      hide()
    }
  }, [hide])

  // A key that was replaced while it was shown is shown no longer.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new key is the reason to hide.
  useEffect(() => hide, [account, keyId, hide])

  return { plain, wasShown, secondsLeft, show, hide, read }
}
