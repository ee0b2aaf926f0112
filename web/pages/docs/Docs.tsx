// The documentation: the pages of docs/ in the reader's language, with contents, a search, and the
// reader's own values in the examples. The build has parsed the texts (build/docs/docs.ts).
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useParams } from '@tanstack/react-router'
import { ArrowLeft, ArrowRight } from 'lucide-react'
import { type ReactNode, useEffect, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useDescription } from '../../frame/SiteFrame.tsx'
import { paths } from '../../paths.ts'
import { currentLanguage } from '../../runtime/language.ts'
import type { Block, Heading } from '../../ui/markdown/blocks.ts'
import { plainText } from '../../ui/markdown/blocks.ts'
import { Markdown } from '../../ui/markdown/Markdown.tsx'
import { Page } from '../../ui/Page.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { TextAnchor, TextLink } from '../../ui/TextLink.tsx'
import { NotFound } from '../ErrorPages.tsx'
import { ContentsColumn, ContentsList } from './Contents.tsx'
import { Example } from './examples/Example.tsx'
import { Examples, useExamples } from './examples/Examples.tsx'
import { fillText, isFilled, modelIn } from './examples/fill.ts'
import { YourValues } from './examples/YourValues.tsx'
import { docsPageQuery } from './load.ts'
import { OnThisPage } from './OnThisPage.tsx'
import { type DocsName, type DocsPage, docsNames, isDocsName } from './pages.ts'
import { Search } from './search/Search.tsx'

export function Docs() {
  const { page = '' } = useParams({ strict: false })
  if (!isDocsName(page)) return <NotFound />
  return (
    <Examples>
      <DocsLayout name={page} />
    </Examples>
  )
}

function DocsLayout({ name }: { readonly name: DocsName }) {
  // Renders again when the reader changes the language.
  useTranslation()
  const query = useQuery(docsPageQuery(name, currentLanguage()))
  const headings = useMemo(
    () => (query.data?.blocks ?? []).filter((block) => isSection(block)),
    [query.data],
  )
  return (
    <div className="w-full min-w-0">
      <div
        className="grid gap-x-8 gap-y-4 lg:grid-cols-[12.5rem_minmax(0,1fr)]
          xl:grid-cols-[12rem_minmax(0,1fr)_10.5rem] xl:gap-x-6
          2xl:grid-cols-[14rem_minmax(0,1fr)_13rem] 2xl:gap-x-14"
      >
        <aside
          className="top-4 grid content-start gap-4 self-start lg:sticky
            lg:max-h-[calc(100dvh-2rem)] lg:gap-6
            lg:overflow-y-auto lg:p-0.5"
        >
          <Search />
          <div className="max-lg:hidden">
            <ContentsColumn />
          </div>
          <div className="lg:hidden">
            <ContentsList name={name} />
          </div>
        </aside>
        <div className="min-w-0 max-w-[56rem]">
          <QueryView query={query} lines={12}>
            {(page) => <Text key={`${page.name} ${page.title}`} page={page} />}
          </QueryView>
        </div>
        <div
          className="top-4 self-start max-xl:hidden xl:sticky xl:max-h-[calc(100dvh-2rem)]
            xl:overflow-y-auto"
        >
          <OnThisPage headings={headings} />
        </div>
      </div>
    </div>
  )
}

function isSection(block: Block): block is Heading {
  return block.kind === 'heading' && block.level === 2
}

function Text({ page }: { readonly page: DocsPage }) {
  const { title, lead, blocks, name } = page
  const examples = useExamples()
  useDescription(lead)
  useSectionOfAddress()
  const sample = useMemo(() => sampleModel(blocks), [blocks])
  const text = (given: string) => (examples === undefined ? given : fillText(given, examples.shown))
  return (
    <Page title={title} lead={lead}>
      {sample !== undefined && <YourValues sample={sample} />}
      <article lang={currentLanguage()} className="min-w-0">
        <Markdown
          blocks={blocks}
          rendering={{
            text,
            code: (code) => <Example code={code} />,
            link: (href, children) => <DocsLink href={href}>{children}</DocsLink>,
            headingEnd: ({ id, inside }) => <HeadingLink id={id} title={plainText(inside)} />,
          }}
        />
      </article>
      <Neighbours name={name} />
    </Page>
  )
}

/** The model that the examples name; undefined: the page has no examples to fill in. */
function sampleModel(blocks: readonly Block[]): string | undefined {
  const texts = blocks.flatMap((block) => (block.kind === 'code' ? block.text : []))
  if (!texts.some(isFilled)) return undefined
  return modelIn(texts.join('\n'))
}

/** Scrolls to the section in the address, and marks it: the text comes after the page. */
function useSectionOfAddress(): void {
  const { hash } = useLocation()
  useEffect(() => {
    if (hash === '') return
    const section = document.getElementById(decodeURIComponent(hash))
    if (section === null) return
    section.scrollIntoView({ block: section.tagName === 'TR' ? 'center' : 'start' })
    section.dataset.found = ''
    return () => {
      delete section.dataset.found
    }
  }, [hash])
}

function DocsLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const [path = '', hash = ''] = href.split('#')
  if (!href.startsWith('/') && path !== '') return <TextAnchor href={href}>{children}</TextAnchor>
  if (path === '') {
    return (
      <TextLink to="." hash={hash}>
        {children}
      </TextLink>
    )
  }
  return (
    <TextLink to={path} hash={hash}>
      {children}
    </TextLink>
  )
}

function HeadingLink({ id, title }: { readonly id: string; readonly title: string }) {
  const { t } = useTranslation()
  return (
    <a
      href={`#${id}`}
      aria-label={t('docs.linkTo', { title })}
      className="ms-2 rounded-xs px-1 font-sans text-soft no-underline opacity-0
        group-hover:opacity-100 hover:text-accent focus-visible:opacity-100"
    >
      #
    </a>
  )
}

/** The pages before and after this one. */
function Neighbours({ name }: { readonly name: DocsName }) {
  const { t } = useTranslation()
  const at = docsNames.indexOf(name)
  const before = docsNames[at - 1]
  const after = docsNames[at + 1]
  const shape =
    'grid gap-0.5 rounded-box border border-line bg-sheet px-4 py-3 hover:border-edge hover:bg-sunk'
  return (
    <nav aria-label={t('docs.neighbours')} className="mt-6 grid gap-3 sm:grid-cols-2">
      {before !== undefined && (
        <Link to={paths.docs} params={{ page: before }} className={shape}>
          <span className="flex items-center gap-1.5 text-sm text-soft">
            <ArrowLeft aria-hidden className="size-4" />
            {t('docs.previous')}
          </span>
          <span className="font-medium">{t(`docs.pages.${before}`)}</span>
        </Link>
      )}
      {after !== undefined && (
        <Link
          to={paths.docs}
          params={{ page: after }}
          className={`${shape} text-end sm:col-start-2`}
        >
          <span className="flex items-center justify-end gap-1.5 text-sm text-soft">
            {t('docs.next')}
            <ArrowRight aria-hidden className="size-4" />
          </span>
          <span className="font-medium">{t(`docs.pages.${after}`)}</span>
        </Link>
      )}
    </nav>
  )
}
