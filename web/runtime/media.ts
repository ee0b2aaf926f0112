// Whether the screen is such as a media query says, followed while it changes.
import { useSyncExternalStore } from 'react'

/** Touched with a finger, and narrow. */
export const PHONE = '(pointer: coarse) and (max-width: 640px)'
/** Below Tailwind's `sm`. */
export const NARROW = '(max-width: 639.98px)'

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const list = window.matchMedia(query)
      list.addEventListener('change', changed)
      return () => list.removeEventListener('change', changed)
    },
    () => window.matchMedia(query).matches,
  )
}
