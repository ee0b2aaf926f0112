// The runbooks, from the documentation of this version: parsed by the build (build/documents.ts),
// loaded when one is opened.
import { queryOptions } from '@tanstack/react-query'
import type { Block } from '../../ui/markdown/blocks.ts'

const documents = import.meta.glob<readonly Block[]>(
  [
    '../../../docs/{runbooks,operating,operator-commands,metrics,payments}.md',
    '../../../deploy/README.md',
  ],
  { query: '?document', import: 'default' },
)

function fileOf(document: string): string {
  return document === 'deploy' ? '../../../deploy/README.md' : `../../../docs/${document}.md`
}

export const documentQuery = (document: string) =>
  queryOptions({
    queryKey: ['runbooks', document],
    queryFn: async () => (await documents[fileOf(document)]?.()) ?? [],
    staleTime: Number.POSITIVE_INFINITY,
  })
