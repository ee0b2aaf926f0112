// The first script of every page: small, so that it runs while the program is still on its way, and
// sends for all that the first page needs side by side. Then it starts the program.
import { askEarly } from './runtime/early.ts'
import { currentZone, languageHere, wordsOf } from './runtime/here.ts'
import './style.css'

// What fails here is fetched again by the page, which then says so.
const ignored = () => undefined

const me = askEarly('/api/me')
void askEarly('/api/brand')
wordsOf(languageHere()).catch(ignored)
// The overview is what most visits open; a visitor is shown the front page at its address.
if (location.pathname === '/') me.then(({ ok }) => (ok ? forOwner() : forVisitor())).catch(ignored)

const { start } = await import('./main.tsx')
await start()

function forOwner(): Promise<unknown> {
  void askEarly(`/api/home?${new URLSearchParams({ zone: currentZone() })}`)
  return Promise.all([import('./frame/OwnerFrame.tsx'), import('./pages/home/Home.tsx')])
}

function forVisitor(): Promise<unknown> {
  return import('./pages/Front.tsx')
}
