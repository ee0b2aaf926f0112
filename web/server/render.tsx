// Renders the public pages to HTML in the cabinet's process, with the same components as the
// browser. Vite bundles it with all its libraries into dist/server/render.js.

import { createMemoryHistory } from '@tanstack/react-router'
import i18next from 'i18next'
import { renderToString } from 'react-dom/server'
import type { CreateRenderer, RenderedPage } from '../../src/cabinet/contract/rendering.ts'
import { App } from '../App.tsx'
import { docsNames, firstDocsPage } from '../pages/docs/pages.ts'
import { paths } from '../paths.ts'
import { createPages } from '../routes.tsx'
import { readFrom } from '../runtime/api.ts'
import { startWords } from '../runtime/language.ts'
import type { Language } from '../runtime/preferences.ts'
import { brandQuery, createQueryClient, meQuery } from '../runtime/queries.ts'
import { stateOf } from '../runtime/server-state.ts'
import { Head, type HeadCollector } from '../ui/head.ts'
import { en } from '../words/en/en.ts'
import { ru } from '../words/ru/ru.ts'

/** Pages whose every address the cabinet knows: those of the documentation and documents. */
const exactly: readonly string[] = [paths.docs, paths.document]
const UNFINISHED = '<!--$!-->'

export const createRenderer: CreateRenderer = (read) => {
  readFrom(read)
  const started = startWords('ru', { ru: { words: ru }, en: { words: en } })
  // One after another: i18next has one language at a time for all components.
  const quickStart = paths.docs.replace('$page', firstDocsPage)
  const last: { done: Promise<unknown> } = { done: started }
  return {
    paths: [
      ...[paths.home, paths.prices, paths.charging, paths.status],
      ...docsNames.map((page) => paths.docs.replace('$page', page)),
    ],
    unlisted: [paths.signIn, paths.register],
    byBrowsers: Object.values(paths).filter((path) => !exactly.includes(path)),
    moved: { [paths.docsHome]: quickStart, [paths.start]: quickStart },
    withQuery: [paths.prices, paths.signIn],
    render(path, language) {
      const rendered = last.done.then(() => renderPage(path, language))
      last.done = rendered.catch(() => undefined)
      return rendered
    },
  }
}

/**
 * The policy forbids style attributes in markup. Libraries write two, for outlines and animations,
 * which a page does without. React escapes quotation marks in text, so only attributes match.
 */
function withoutStyles(markup: string): string {
  return markup.replaceAll(/ style="[^"]*"/g, '')
}

async function renderPage(path: string, language: Language): Promise<RenderedPage | undefined> {
  await i18next.changeLanguage(language)
  const client = createQueryClient(() => undefined)
  // The server renders for visitors only: a browser with a session renders its pages itself.
  client.setQueryData(meQuery.queryKey, null)
  const pages = createPages(client, createMemoryHistory({ initialEntries: [path] }))
  await pages.load()
  const brand = client.getQueryData(brandQuery.queryKey)
  const { matches } = pages.state
  const queries = client.getQueryCache().getAll()
  const isWhole = [...matches, ...queries.map(({ state }) => state)].every(
    ({ status }) => status === 'success',
  )
  if (brand === undefined || !isWhole) return undefined
  const head: HeadCollector = { title: '', description: '' }
  const markup = renderToString(
    <Head value={head}>
      <App client={client} pages={pages} />
    </Head>,
  )
  // React marks a part that could not be rendered, and leaves it to the browser.
  if (markup.includes(UNFINISHED)) throw new Error(`a part of ${path} could not be rendered`)
  return {
    title: `${head.title} · ${brand.name}`,
    description: head.description || i18next.t('front.description'),
    html: withoutStyles(markup),
    state: stateOf(client),
  }
}
