// The text of a page in a language, each in a script of its own.

import { pages } from 'virtual:docs'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { loadChunk } from '../../runtime/chunk.ts'
import type { Language } from '../../runtime/preferences.ts'
import type { DocsName } from './pages.ts'

export const docsPageQuery = (name: DocsName, language: Language) =>
  queryOptions({
    queryKey: ['docs', name, language],
    queryFn: async () => {
      const load = pages[`${language}/${name}`]
      if (load === undefined) throw new Error(`the build has no page ${name} in ${language}`)
      return (await loadChunk(load)).page
    },
    staleTime: Number.POSITIVE_INFINITY,
    // Not repeated in the answers that a page brings along: the script has it.
    meta: { isBundled: true },
    // While a reader changes the language, the page does not jump.
    placeholderData: keepPreviousData,
  })
