// The documentation for those who call the API, from the pages in docs/: in the reader's language
// where there is one, with this deployment's address in the examples. They are bundled as text, so
// nothing is fetched from elsewhere and no markup is taken from them.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import type { Brand } from '../../src/cabinet/contract/contract.ts'
import { paths } from '../paths.ts'
import { brandAsk } from '../runtime/asks.ts'
import { currentLanguage } from '../runtime/language.ts'
import { Asked } from '../ui/Asked.tsx'
import { Markdown } from '../ui/markdown/Markdown.tsx'
import { Page } from '../ui/Page.tsx'
import { TabLinks } from '../ui/Tabs.tsx'
import { NotFound } from './Trouble.tsx'

const names = ['quick-start', 'charging', 'api', 'errors', 'versioning'] as const
type Name = (typeof names)[number]

const texts = import.meta.glob<string>(
  ['../../docs/{quick-start,charging,api,errors,versioning}.md', '../../docs/ru/*.md'],
  { query: '?raw', import: 'default' },
)

export function Docs() {
  const { page = '' } = useParams({ strict: false })
  const name = names.find((one) => one === page)
  return name === undefined ? <NotFound /> : <Part key={name} name={name} />
}

function Part({ name }: { readonly name: Name }) {
  const { t } = useTranslation()
  const translated = `../../docs/${currentLanguage()}/${name}.md`
  const file = translated in texts ? translated : `../../docs/${name}.md`
  const isForeign = file !== translated && currentLanguage() !== 'en'
  const query = useQuery({
    queryKey: ['docs', file],
    queryFn: async () => (await texts[file]?.()) ?? '',
    staleTime: Number.POSITIVE_INFINITY,
  })
  const brand = useQuery(brandAsk)
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
        <Asked query={query} lines={12}>
          {(text) => (
            <Asked query={brand} lines={12}>
              {(known) => <Text text={filled(text, known)} isForeign={isForeign} />}
            </Asked>
          )}
        </Asked>
      </Page>
    </div>
  )
}

function Text({ text, isForeign }: { readonly text: string; readonly isForeign: boolean }) {
  useEffect(() => {
    // The text came after the page, so the browser has found nothing to scroll to.
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

/** Without its heading, which is the page's; links lead within the cabinet, or are mere words. */
function filled(text: string, { apiUrl, vendorSlug }: Brand): string {
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
