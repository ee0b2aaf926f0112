// The theme: light, dark, or that of the system. A cookie holds the choice; public/theme.js reads
// it before the first paint.
import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'
export const themes: readonly Theme[] = ['system', 'light', 'dark']

const COOKIE_SECONDS = 400 * 86_400
const CHANGED = 'theme-chosen'

export function chooseTheme(theme: Theme): void {
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset.theme
  else dataset.theme = theme
  const lifetime = theme === 'system' ? 0 : COOKIE_SECONDS
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store is not in every browser yet.
  document.cookie = `theme=${theme}; path=/; max-age=${lifetime}; samesite=lax`
  window.dispatchEvent(new Event(CHANGED))
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (changed) => {
      window.addEventListener(CHANGED, changed)
      return () => window.removeEventListener(CHANGED, changed)
    },
    () => {
      const { theme } = document.documentElement.dataset
      return theme === 'light' || theme === 'dark' ? theme : 'system'
    },
    // The server renders no theme: public/theme.js sets it before the first paint.
    () => 'system',
  )
}
