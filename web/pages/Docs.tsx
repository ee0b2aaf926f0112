// The documentation of the API, from the files in docs/: in the reader's language where a
// translation exists, with this deployment's base URL in the examples. The files are bundled as
// text: nothing is fetched from other sites, and no HTML in them is rendered.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import type { Brand } from '../../src/cabinet/contract/contract.ts'
import { paths } from '../paths.ts'
import { currentLanguage } from '../runtime/language.ts'
import { brandQuery } from '../runtime/queries.ts'
import { Markdown } from '../ui/markdown/Markdown.tsx'
import { Page } from '../ui/Page.tsx'
import { QueryView } from '../ui/QueryView.tsx'
import { TabLinks } from '../ui/Tabs.tsx'
import { NotFound } from './ErrorPages.tsx'

const names = ['quick-start', 'charging', 'api', 'errors', 'versioning'] as const
type Name = (typeof names)[number]

const texts = import.meta.glob<string>(
  ['../../docs/{quick-start,charging,api,errors,versioning}.md', '../../docs/ru/*.md'],
  { query: '?raw', import: 'default' },
)

export function Docs() {
  const { page = '' } = useParams({ strict: false })
  const name = names.find((one) => one === page)
  return name === undefined ? <NotFound /> : <DocsPage key={name} name={name} />
}

function DocsPage({ name }: { readonly name: Name }) {
  const { t } = useTranslation()
  const translated = `../../docs/${currentLanguage()}/${name}.md`
  const file = translated in texts ? translated : `../../docs/${name}.md`
  const isForeign = file !== translated && currentLanguage() !== 'en'
  const query = useQuery({
    queryKey: ['docs', file],
    queryFn: async () => (await texts[file]?.()) ?? '',
    staleTime: Number.POSITIVE_INFINITY,
  })
  const brand = useQuery(brandQuery)
  return (
    <div className="w-full max-w-4xl">
      <Page title={t(`docs.${name}`)} lead={isForeign ? t('docs.english') : undefined}>
        <TabLinks
          label={t('docs.parts')}
          links={names.map((one) => ({
            to: paths.docs,
            params: { page: one },
            label: t(`docs.${one}`),
          }))}
        />
        <QueryView query={query} lines={12}>
          {(text) => (
            <QueryView query={brand} lines={12}>
              {(known) => <Text text={adaptText(text, known)} isForeign={isForeign} />}
            </QueryView>
          )}
        </QueryView>
      </Page>
    </div>
  )
}

function Text({ text, isForeign }: { readonly text: string; readonly isForeign: boolean }) {
  useEffect(() => {
    // The text was loaded after the page, so the browser found nothing to scroll to.
    const anchor = decodeURIComponent(window.location.hash.slice(1))
    if (anchor !== '') document.getElementById(anchor)?.scrollIntoView()
  }, [])
  return (
    <article
      lang={isForeign ? 'en' : currentLanguage()}
      className="min-w-0 rounded-box border border-line bg-sheet p-5 sm:p-10"
    >
      <Markdown text={text} />
    </article>
  )
}

/** Removes the heading, which the page shows itself, fills in the base URL, unlinks other files. */
function adaptText(text: string, { apiUrl, vendorSlug }: Brand): string {
  return text
    .replace(/^# .*\n|<!--.*?-->/g, '')
    .replaceAll('https://api.example.org', apiUrl)
    .replaceAll('sk-vendor-', `sk-${vendorSlug}-`)
    .replace(
      /\[([^\]]+)\]\((?:\.\.\/)?([\w-]+)\.md(#[^)]+)?\)/g,
      (whole, label, name, anchor = '') =>
        names.includes(name) ? `[${label}](/docs/${name}${anchor})` : whole,
    )
    .replace(/\[([^\]]+)\]\((?!\/docs\/|#|https?:)[^)]*\)/g, '$1')
}
