// Who is signed in, and what begins and ends with that: the language of the profile, a clean slate
// of answers, the way back to the page that asked for a sign-in.
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouteContext, useRouter } from '@tanstack/react-router'
import type { Me } from '../../src/cabinet/contract/contract.ts'
import { paths, safeNext } from '../paths.ts'
import { call, isNo } from './api.ts'
import { brandAsk, meAsk } from './asks.ts'
import type { Language } from './here.ts'
import { chooseLanguage } from './language.ts'

/** Set when whoever signed in said that others use this device too. */
const SHARED = 'device-is-shared'

export function isSharedDevice(): boolean {
  return localStorage.getItem(SHARED) !== null
}

export function rememberDevice(isPrivate: boolean): void {
  if (isPrivate) localStorage.removeItem(SHARED)
  else localStorage.setItem(SHARED, 'yes')
}

/** The owner; only for pages behind the guard, where there is one. */
export function useMe(): Me {
  const { data } = useQuery(meAsk)
  // Whom the guard let in: still shown in the moment between signing out and leaving the page.
  const { me: admitted } = useRouteContext({ strict: false })
  const me = data ?? admitted
  if (me === undefined || me === null) throw new Error('nobody is signed in')
  return me
}

/** Forgets every answer that was somebody's, but for who is signed in, which others set. */
export function forgetAnswers(client: QueryClient): void {
  const kept: readonly unknown[] = [...brandAsk.queryKey, ...meAsk.queryKey]
  client.removeQueries({ predicate: ({ queryKey }) => !kept.includes(queryKey[0]) })
}

/** After a sign-in: reads who it is, speaks their language, goes where they wanted. */
export function useSignedIn(): (next?: string) => Promise<void> {
  const client = useQueryClient()
  const router = useRouter()
  return async (next) => {
    forgetAnswers(client)
    const me = await client.fetchQuery({ ...meAsk, staleTime: 0 })
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
      if (!isNo(error, 'session_missing')) throw error
    })
    const account = client.getQueryData(meAsk.queryKey)?.account
    if (account !== undefined && isSharedDevice()) await forgetKey(account)
    client.setQueryData(meAsk.queryKey, null)
    await router.navigate({ to: paths.signIn })
    // After leaving: a page that is still there would ask for everything again.
    forgetAnswers(client)
  }
}

/** Whoever uses the device next must not find the key; storage that is closed holds none. */
export async function forgetKey(account: string): Promise<void> {
  const { forget, KeyringClosed } = await import('./keyring.ts')
  await forget(account).catch((error: unknown) => {
    if (!(error instanceof KeyringClosed)) throw error
  })
}

/**
 * When nobody is signed in any more. Who leaves a shared device by closing the browser, or whose
 * session is ended from elsewhere, has left the key there as well.
 */
export async function forgetLeftKeys(): Promise<void> {
  if (!isSharedDevice()) return
  const { forgetAll, KeyringClosed } = await import('./keyring.ts')
  await forgetAll().catch((error: unknown) => {
    if (!(error instanceof KeyringClosed)) throw error
  })
}

/** The language from now on: in this browser, and in the profile when somebody is signed in. */
export function useChooseLanguage(): (language: Language) => Promise<void> {
  const client = useQueryClient()
  return async (language) => {
    await chooseLanguage(language)
    if ((client.getQueryData(meAsk.queryKey) ?? null) === null) return
    const me = await call('POST /api/me/language', { body: { language } })
    client.setQueryData(meAsk.queryKey, me)
  }
}
