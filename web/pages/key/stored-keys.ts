// Hooks of the key page: which of the account's keys this browser has stored, and the plain value
// while the owner looks at it.
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { KeyState } from '../../../src/cabinet/contract/contract.ts'
import {
  KeyringUnavailable,
  listKeys,
  readKey,
  type StoredKey,
  watchKeyring,
} from '../../runtime/keyring.ts'
import { wipeStaleKeys } from './issue-key.ts'

export const REVEAL_SECONDS = 30

export const storedKeysQuery = (account: string) =>
  queryOptions({
    queryKey: ['stored-keys', account],
    /** Null: this browser cannot store keys. */
    queryFn: async (): Promise<readonly StoredKey[] | null> => {
      try {
        return await listKeys(account)
      } catch (error) {
        if (error instanceof KeyringUnavailable) return null
        throw error
      }
    },
    staleTime: 0,
  })

export type StoredKeys = {
  /** This browser has the active key. */
  readonly hasActive: boolean
  /** This browser has a key that the server has not confirmed yet. */
  readonly hasPending: boolean
  readonly isUnavailable: boolean
}

/** Undefined until the browser's storage has answered. */
export function useStoredKeys(
  account: string,
  state: KeyState | undefined,
): StoredKeys | undefined {
  const client = useQueryClient()
  const { data: keys } = useQuery(storedKeysQuery(account))
  const activeId = state?.active?.id
  const pendingId = state?.pending?.id
  useEffect(
    () =>
      watchKeyring(account, () => {
        void client.invalidateQueries({ queryKey: storedKeysQuery(account).queryKey })
      }),
    [account, client],
  )
  const has = (id: string | undefined) =>
    id !== undefined && keys?.some(({ keyId }) => keyId === id) === true
  const hasStale = keys?.some(({ keyId }) => keyId !== activeId && keyId !== pendingId) === true
  useEffect(() => {
    if (state === undefined || !hasStale) return
    wipeStaleKeys(account).then(
      () => client.invalidateQueries({ queryKey: storedKeysQuery(account).queryKey }),
      // A stale key that could not be wiped is useless, and the next visit wipes it.
      () => undefined,
    )
  }, [account, client, hasStale, state])
  if (keys === undefined) return undefined
  return { hasActive: has(activeId), hasPending: has(pendingId), isUnavailable: keys === null }
}

export type Reveal = {
  readonly plain: string | undefined
  readonly wasShown: boolean
  /** Seconds until the value is hidden again. */
  readonly secondsLeft: number
  readonly show: () => Promise<void>
  readonly hide: () => void
  /** The plain value for copying and saving, without showing it. */
  readonly read: () => Promise<string>
}

/** Hides the value after half a minute, and as soon as the page loses focus or is hidden. */
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
    const value = await readKey({ account, keyId })
    if (value !== undefined) return value
    await client.invalidateQueries({ queryKey: storedKeysQuery(account).queryKey })
    throw new KeyringUnavailable('this browser no longer has the key')
  }, [account, keyId, client])

  const show = useCallback(async () => {
    const value = await read()
    window.clearInterval(timer.current)
    const endsAt = performance.now() + REVEAL_SECONDS * 1_000
    timer.current = window.setInterval(() => {
      const left = Math.ceil((endsAt - performance.now()) / 1_000)
      if (left <= 0) hide()
      else setSecondsLeft(left)
    }, 250)
    setSecondsLeft(REVEAL_SECONDS)
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

  // Hides a key that is replaced while it is shown.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new key is the reason to hide.
  useEffect(() => hide, [account, keyId, hide])

  return { plain, wasShown, secondsLeft, show, hide, read }
}
