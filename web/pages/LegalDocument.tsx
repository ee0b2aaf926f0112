// A legal document in the reader's language, with its version.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { DocumentText } from '../../src/cabinet/contract.ts'
import { documentAsk } from '../asks.ts'
import { currentLanguage } from '../language.ts'
import { Asked } from '../ui/Asked.tsx'
import { Markdown } from '../ui/Markdown.tsx'
import { Page } from '../ui/Page.tsx'

export function LegalDocument() {
  const { document = '' } = useParams({ strict: false })
  const query = useQuery(documentAsk(document, currentLanguage()))
  return (
    <div className="w-full max-w-3xl">
      <Asked query={query} lines={12}>
        {(text) => <Text text={text} />}
      </Asked>
    </div>
  )
}

function Text({ text }: { readonly text: DocumentText }) {
  const { t } = useTranslation()
  const { language, title, version, markdown } = text
  return (
    <Page title={title[language]} lead={t('document.version', { version })}>
      <article lang={language} className="rounded-box border border-line bg-sheet p-5 sm:p-10">
        <Markdown text={markdown} />
      </article>
    </Page>
  )
}
