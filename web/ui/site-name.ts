// The name of the site for the titles of browser tabs: cabinet and console each provide theirs.
import { createContext, useContext } from 'react'

/** Undefined until it is known. */
export const SiteName = createContext<string | undefined>(undefined)

export function useSiteName(): string | undefined {
  return useContext(SiteName)
}
