// A legal document in the reader's language, with its version.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { isNo } from '../runtime/api.ts'
import { documentAsk } from '../runtime/asks.ts'
import { currentLanguage } from '../runtime/language.ts'
import { Asked } from '../ui/Asked.tsx'
import { Markdown } from '../ui/markdown/Markdown.tsx'
import { Page } from '../ui/Page.tsx'
import { NotFoundSheet } from './Trouble.tsx'

export function LegalDocument() {
  const { t } = useTranslation()
  const { document = '' } = useParams({ strict: false })
  const language = currentLanguage()
  const query = useQuery(documentAsk(document, language))
  if (isNo(query.error, 'document_unknown')) return <NotFoundSheet />
  const title = query.data?.title[language] ?? t('footer.documents')
  const version = query.data?.version
  return (
    <div className="w-full max-w-3xl">
      <Page
        title={title}
        lead={version === undefined ? undefined : t('document.version', { version })}
      >
        <Asked query={query} lines={12}>
          {({ markdown }) => (
            <article
              lang={language}
              className="rounded-box border border-line bg-sheet p-5 sm:p-10"
            >
              <Markdown text={withoutTitle(markdown, title)} />
            </article>
          )}
        </Asked>
      </Page>
    </div>
  )
}

/** Most texts open with their own title, which already stands above. */
function withoutTitle(markdown: string, title: string): string {
  const [first = '', ...rest] = markdown.trimStart().split('\n')
  const isTitle = first.replace(/^#+\s*/, '').trim() === title
  return isTitle ? rest.join('\n') : markdown
}
