// Whether a media query matches the screen; follows its changes.
import { useSyncExternalStore } from 'react'

/** A narrow touch screen. */
export const PHONE = '(pointer: coarse) and (max-width: 640px)'
/** Below Tailwind's breakpoint `sm`. */
export const NARROW = '(max-width: 639.98px)'

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const list = window.matchMedia(query)
      list.addEventListener('change', changed)
      return () => list.removeEventListener('change', changed)
    },
    () => window.matchMedia(query).matches,
    // The server does not know the screen.
    () => false,
  )
}
