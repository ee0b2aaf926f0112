// "Confirm it is you": the server demands a fresh session for actions that could cost the owner
// the account. The action is tried first; if the server refuses it, the owner signs in again in a
// dialog and the action is repeated.
import { useQueryClient } from '@tanstack/react-query'
import {
  createContext,
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useContext,
  useRef,
  useState,
} from 'react'
import { isApiRefusal } from '../runtime/api.ts'
import { Cancelled } from '../runtime/errors.ts'
import { meQuery } from '../runtime/queries.ts'

type WithFreshSession = <T>(work: () => Promise<T>) => Promise<T>
type Waiting = { readonly resolve: () => void; readonly reject: (error: Error) => void }

/** Loaded on demand: most visits never open it. */
const FreshSessionDialog = lazy(async () => ({
  default: (await import('./FreshSessionDialog.tsx')).FreshSessionDialog,
}))

const FreshSessionContext = createContext<WithFreshSession>((work) => work())

/** `await withFreshSession(() => call('POST /api/key'))`. Closing the dialog throws Cancelled. */
export function useFreshSession(): WithFreshSession {
  return useContext(FreshSessionContext)
}

export function FreshSessionProvider({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const waiting = useRef<Waiting>(undefined)

  const withFreshSession = useCallback<WithFreshSession>(async (work) => {
    try {
      return await work()
    } catch (error) {
      if (!isApiRefusal(error, 'session_not_fresh')) throw error
    }
    await new Promise<void>((resolve, reject) => {
      waiting.current = { resolve, reject }
      setOpen(true)
    })
    return work()
  }, [])

  function cancel(): void {
    setOpen(false)
    waiting.current?.reject(new Cancelled())
    // The server ends the old session as soon as the password is right, so an owner who stops at
    // the second factor is signed out: `me` is read again for the guard of routes.tsx.
    void client.invalidateQueries({ queryKey: meQuery.queryKey })
  }

  function retry(): void {
    setOpen(false)
    waiting.current?.resolve()
    void client.invalidateQueries({ queryKey: meQuery.queryKey })
  }

  return (
    <FreshSessionContext value={withFreshSession}>
      {children}
      {isOpen && (
        <Suspense>
          <FreshSessionDialog onClose={cancel} onSignedIn={retry} />
        </Suspense>
      )}
    </FreshSessionContext>
  )
}
