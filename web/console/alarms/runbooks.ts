// The runbooks, from the documentation of this version: bundled as text, loaded when one is opened.
import { queryOptions } from '@tanstack/react-query'

const texts = import.meta.glob<string>(
  [
    '../../../docs/{runbooks,operating,operator-commands,metrics,payments}.md',
    '../../../deploy/README.md',
  ],
  { query: '?raw', import: 'default' },
)

function fileOf(document: string): string {
  return document === 'deploy' ? '../../../deploy/README.md' : `../../../docs/${document}.md`
}

export const documentQuery = (document: string) =>
  queryOptions({
    queryKey: ['runbooks', document],
    queryFn: async () => (await texts[fileOf(document)]?.()) ?? '',
    staleTime: Number.POSITIVE_INFINITY,
  })
