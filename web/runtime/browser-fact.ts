// Something that only the browser knows and that does not change while the page is open. The server
// renders `onServer`; the browser takes that over and then shows what it knows.
import { useSyncExternalStore } from 'react'

const never = () => () => undefined

export function useBrowserFact<T extends string | boolean>(read: () => T, onServer: T): T {
  return useSyncExternalStore(never, read, () => onServer)
}
