// Finds sections of the documentation in an index that the build has made.
import MiniSearch from 'minisearch'
import { type Found, searchOptions } from './terms.ts'

/** Three screens of a phone; after that a reader types another word. */
const RESULTS_MAX = 20
/** Shorter words have too many neighbours that differ by one letter. */
const FUZZY_LENGTH_MIN = 5

export type Find = (question: string) => readonly Found[]

/** `index`: as build/docs/search-index.ts writes it. */
export function createFind(index: string): Find {
  const search = MiniSearch.loadJSON<Found>(index, searchOptions)
  const options = {
    boost: { title: 6, place: 2 },
    prefix: true,
    fuzzy: (term: string) => (term.length < FUZZY_LENGTH_MIN ? false : 0.2),
  }
  return (question) => {
    const all = search.search(question, { ...options, combineWith: 'AND' })
    const found = all.length > 0 ? all : search.search(question, { ...options, combineWith: 'OR' })
    return found.slice(0, RESULTS_MAX).map(({ id, page, title, place, text }) => ({
      ...{ id, page, title, place, text },
    }))
  }
}
