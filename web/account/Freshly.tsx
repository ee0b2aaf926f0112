// "Confirm it is you": whatever could cost an account wants a fresh session. Work is tried first;
// when the server wants a fresh session, the owner signs in again here and the work is repeated.
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
import { isNo } from '../runtime/api.ts'
import { meAsk } from '../runtime/asks.ts'
import { Cancelled } from '../runtime/errors.ts'

type Freshly = <T>(work: () => Promise<T>) => Promise<T>
type Waiting = { readonly resolve: () => void; readonly reject: (error: Error) => void }

/** Loaded when it is first needed: most visits do not. */
const FreshDialog = lazy(async () => ({
  default: (await import('./FreshDialog.tsx')).FreshDialog,
}))

const FreshlyContext = createContext<Freshly>((work) => work())

/** `await freshly(() => call('POST /api/key'))`. Throws Cancelled when the dialog is closed. */
export function useFreshly(): Freshly {
  return useContext(FreshlyContext)
}

export function Freshly({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const waiting = useRef<Waiting>(undefined)

  const freshly = useCallback<Freshly>(async (work) => {
    try {
      return await work()
    } catch (error) {
      if (!isNo(error, 'session_not_fresh')) throw error
    }
    await new Promise<void>((resolve, reject) => {
      waiting.current = { resolve, reject }
      setOpen(true)
    })
    return work()
  }, [])

  function leave(): void {
    setOpen(false)
    waiting.current?.reject(new Cancelled())
    // The server ends the old session as soon as the password was right; who stops at the second
    // factor is signed out, and the guard must hear of it.
    void client.invalidateQueries({ queryKey: meAsk.queryKey })
  }

  function enter(): void {
    setOpen(false)
    waiting.current?.resolve()
    void client.invalidateQueries({ queryKey: meAsk.queryKey })
  }

  return (
    <FreshlyContext value={freshly}>
      {children}
      {isOpen && (
        <Suspense>
          <FreshDialog onClose={leave} onSignedIn={enter} />
        </Suspense>
      )}
    </FreshlyContext>
  )
}
