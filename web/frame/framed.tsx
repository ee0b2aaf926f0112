// Whether a frame is around a page: an error page inside one must not add another.
import { createContext, type ReactNode, useContext } from 'react'

const FramedContext = createContext(false)

/** Marks what is inside a frame. */
export function Framed({ children }: { readonly children: ReactNode }) {
  return <FramedContext value={true}>{children}</FramedContext>
}

export function useIsFramed(): boolean {
  return useContext(FramedContext)
}
