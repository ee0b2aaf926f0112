// index.html as Vite built it, split where a rendered page has something else.
import { assert } from '../../platform/assert.ts'
import type { Language } from '../contract/contract.ts'

type Filling = {
  readonly language: Language
  /** Tags, already escaped. */
  readonly head: string
  /** Whether search engines may list the page. */
  readonly isListed: boolean
  /** Undefined: the browser renders the page. */
  readonly body?: { readonly html: string; readonly state: string }
}

/** In the order of the file. */
const PLACES = [
  /<html lang="ru">/,
  /<meta name="description" content="" ?\/?>/,
  /<meta name="robots" content="noindex" ?\/?>/,
  /<title>…<\/title>/,
  /<div id="app"><\/div>/,
  /<noscript>.*<\/noscript>/,
] as const

export type Template = ReturnType<typeof openTemplate>

export function openTemplate(indexHtml: string) {
  const parts: string[] = []
  const rest = PLACES.reduce((text, place) => {
    const found = place.exec(text)
    assert(found !== null, `index.html has the place that a page fills: ${place.source}`)
    parts.push(text.slice(0, found.index))
    return text.slice(found.index + found[0].length)
  }, indexHtml)
  const own = PLACES.map((place) => place.exec(indexHtml)?.[0] ?? '')
  return {
    fill({ language, head, isListed, body }: Filling): string {
      const fillings = [
        `<html lang="${language}"${body === undefined ? '' : ' data-rendered'}>`,
        head,
        isListed ? '' : own[2],
        '',
        body === undefined ? own[4] : `<div id="app">${body.html}</div>${stateOf(body.state)}`,
        // A page that search engines need not find has a form, which needs scripts.
        body === undefined || !isListed ? own[5] : '',
      ]
      return [...parts.flatMap((part, at) => [part, fillings[at]]), rest].join('')
    },
  }
}

/** A data block: it is not run, so the policy allows it. Nothing in it ends the element. */
function stateOf(json: string): string {
  const data = json.replaceAll('<', '\\u003c')
  return `<script type="application/json" id="server-state">${data}</script>`
}
