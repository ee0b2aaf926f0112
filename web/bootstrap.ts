// The first script of every page. It is small, so that it runs while the program is still loading,
// and it requests everything that the first page needs in parallel. Then it starts the program.
import { currentZone, preferredLanguage } from './runtime/preferences.ts'
import { prefetch } from './runtime/prefetch.ts'
import { loadWords } from './words/load.ts'
import './style.css'

// The page repeats a request that fails here, and shows the error.
const ignoreError = () => undefined

/** A page that the server rendered brings its answers along; see runtime/server-state.ts. */
const isRendered = document.documentElement.dataset.rendered !== undefined
loadWords(preferredLanguage()).catch(ignoreError)
if (isRendered) {
  if (location.pathname === '/') loadFrontPage().catch(ignoreError)
} else {
  const me = prefetch('/api/me')
  void prefetch('/api/brand')
  // Most visits open the overview; at its address a visitor who is not signed in gets the front
  // page.
  if (location.pathname === '/') {
    me.then(({ ok }) => (ok ? loadOverview() : loadFrontPage())).catch(ignoreError)
  }
}

const { startApp } = await import('./main.tsx')
await startApp()

function loadOverview(): Promise<unknown> {
  void prefetch(`/api/home?${new URLSearchParams({ zone: currentZone() })}`)
  return Promise.all([import('./frame/OwnerFrame.tsx'), import('./pages/home/Home.tsx')])
}

function loadFrontPage(): Promise<unknown> {
  return import('./pages/front/Front.tsx')
}
