// "Confirm it is you": the server demands recent proofs for actions that could cost the owner the
// account. The action is tried first; if the server refuses it, the owner proves what is missing in
// a dialog and the action is repeated.
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
import type { Proof } from '../../src/cabinet/contract/contract.ts'
import { isApiRefusal } from '../runtime/api.ts'
import { Cancelled } from '../runtime/errors.ts'

type WithStepUp = <T>(work: () => Promise<T>) => Promise<T>
type Waiting = { readonly resolve: () => void; readonly reject: (error: Error) => void }

/** Loaded on demand: most visits never open it. */
const StepUpDialog = lazy(async () => ({
  default: (await import('./StepUpDialog.tsx')).StepUpDialog,
}))

const StepUpContext = createContext<WithStepUp>((work) => work())

/** `await withStepUp(() => call('POST /api/key'))`. Closing the dialog throws Cancelled. */
export function useStepUp(): WithStepUp {
  return useContext(StepUpContext)
}

export function StepUpProvider({ children }: { readonly children: ReactNode }) {
  const [needs, setNeeds] = useState<readonly Proof[]>([])
  const waiting = useRef<Waiting>(undefined)

  const withStepUp = useCallback<WithStepUp>(async (work) => {
    const missing = await work().then(
      (value) => ({ value }),
      (error: unknown) => {
        if (isApiRefusal(error, 'step_up_needed')) return { needs: error.needs }
        throw error
      },
    )
    if ('value' in missing) return missing.value
    await new Promise<void>((resolve, reject) => {
      waiting.current = { resolve, reject }
      setNeeds(missing.needs)
    })
    return work()
  }, [])

  function cancel(): void {
    setNeeds([])
    waiting.current?.reject(new Cancelled())
  }

  function retry(): void {
    setNeeds([])
    waiting.current?.resolve()
  }

  return (
    <StepUpContext value={withStepUp}>
      {children}
      {needs.length > 0 && (
        <Suspense>
          <StepUpDialog needs={needs} onClose={cancel} onProven={retry} />
        </Suspense>
      )}
    </StepUpContext>
  )
}
