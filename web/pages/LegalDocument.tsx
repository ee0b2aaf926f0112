// A legal document in the reader's language, with its version.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { isApiRefusal } from '../runtime/api.ts'
import { currentLanguage } from '../runtime/language.ts'
import { documentQuery } from '../runtime/queries.ts'
import { plainText } from '../ui/markdown/blocks.ts'
import { Markdown } from '../ui/markdown/Markdown.tsx'
import { parseMarkdown } from '../ui/markdown/parse.ts'
import { Page } from '../ui/Page.tsx'
import { QueryView } from '../ui/QueryView.tsx'
import { NotFound } from './ErrorPages.tsx'

export function LegalDocument() {
  const { t } = useTranslation()
  const { document = '' } = useParams({ strict: false })
  const language = currentLanguage()
  const query = useQuery(documentQuery(document, language))
  if (isApiRefusal(query.error, 'document_unknown')) return <NotFound />
  const title = query.data?.title[language] ?? t('footer.documents')
  const version = query.data?.version
  return (
    <div className="w-full max-w-3xl">
      <Page
        title={title}
        lead={version === undefined ? undefined : t('document.version', { version })}
      >
        <QueryView query={query} lines={12}>
          {({ markdown }) => (
            <article
              lang={language}
              className="rounded-box border border-line bg-sheet p-5 sm:p-10"
            >
              <Text markdown={markdown} title={title} />
            </article>
          )}
        </QueryView>
      </Page>
    </div>
  )
}

/** Most documents begin with their title, which the page already shows. */
function Text({ markdown, title }: { readonly markdown: string; readonly title: string }) {
  const blocks = useMemo(() => parseMarkdown(markdown), [markdown])
  const [first, ...rest] = blocks
  const isTitle = first?.kind === 'heading' && plainText(first.inside) === title
  return <Markdown blocks={isTitle ? rest : blocks} />
}
