// Who is signed in, and what a sign-in and a sign-out change: the language, the cached answers, the
// stored key and the page shown next.
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouteContext, useRouter } from '@tanstack/react-router'
import type { Me } from '../../src/cabinet/contract/contract.ts'
import { paths, safeNext } from '../paths.ts'
import { call, isApiRefusal } from './api.ts'
import { chooseLanguage } from './language.ts'
import type { Language } from './preferences.ts'
import { brandQuery, closingQuery, meQuery } from './queries.ts'

/** Set when the owner said at sign-in that others use this device too. */
const SHARED = 'device-is-shared'

export function isSharedDevice(): boolean {
  return localStorage.getItem(SHARED) !== null
}

export function rememberDevice(isPrivate: boolean): void {
  if (isPrivate) localStorage.removeItem(SHARED)
  else localStorage.setItem(SHARED, 'yes')
}

/** The owner. Only for pages behind the guard of routes.tsx, which admits nobody else. */
export function useMe(): Me {
  const { data } = useQuery(meQuery)
  // The owner whom the guard admitted: the page still shows them between sign-out and leaving.
  const { me: admitted } = useRouteContext({ strict: false })
  const me = data ?? admitted
  if (me === undefined || me === null) throw new Error('no owner is signed in')
  return me
}

/** Removes every cached answer of an account except `me`, which the callers set themselves. */
export function clearAnswers(client: QueryClient): void {
  const shared: readonly unknown[] = [...brandQuery.queryKey, ...meQuery.queryKey]
  client.removeQueries({ predicate: ({ queryKey }) => !shared.includes(queryKey[0]) })
}

/** After a sign-in: reads the owner, shows their language, and opens the page they wanted. */
export function useFinishSignIn(): (next?: string) => Promise<void> {
  const client = useQueryClient()
  const router = useRouter()
  return async (next) => {
    clearAnswers(client)
    const me = await client.fetchQuery({ ...meQuery, staleTime: 0 })
    if (me !== null) await chooseLanguage(me.language)
    await router.invalidate()
    router.history.push(safeNext(next))
  }
}

export function useSignOut(): () => Promise<void> {
  const client = useQueryClient()
  const router = useRouter()
  return async () => {
    await call('POST /api/auth/sign-out').catch((error: unknown) => {
      if (!isApiRefusal(error, 'session_missing')) throw error
    })
    const account = client.getQueryData(meQuery.queryKey)?.account
    if (account !== undefined && isSharedDevice()) await wipeKeysOf(account)
    // The steps of a closing would take the end of this session for that of the account.
    client.getQueryCache().find({ queryKey: closingQuery.queryKey })?.reset()
    client.setQueryData(meQuery.queryKey, null)
    await router.navigate({ to: paths.signIn })
    // After leaving: a page that is still shown would request everything again.
    clearAnswers(client)
  }
}

/** The next user of the device must not find the key. Unavailable storage holds none. */
export async function wipeKeysOf(account: string): Promise<void> {
  const { wipeKeys, KeyringUnavailable } = await import('./keyring.ts')
  await wipeKeys(account).catch((error: unknown) => {
    if (!(error instanceof KeyringUnavailable)) throw error
  })
}

/**
 * Called when the session has ended. An owner who closed the browser on a shared device, or whose
 * session was revoked from elsewhere, has left the key there.
 */
export async function wipeKeysOfSharedDevice(): Promise<void> {
  if (!isSharedDevice()) return
  const { wipeAllKeys, KeyringUnavailable } = await import('./keyring.ts')
  await wipeAllKeys().catch((error: unknown) => {
    if (!(error instanceof KeyringUnavailable)) throw error
  })
}

/** Changes the language in this browser, and in the profile if an owner is signed in. */
export function useChooseLanguage(): (language: Language) => Promise<void> {
  const client = useQueryClient()
  return async (language) => {
    await chooseLanguage(language)
    if ((client.getQueryData(meQuery.queryKey) ?? null) === null) return
    const me = await call('POST /api/me/language', { body: { language } })
    client.setQueryData(meQuery.queryKey, me)
  }
}
