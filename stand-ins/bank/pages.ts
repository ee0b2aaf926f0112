// The bank's pages for payers, over HTTP: finds the payment and the act of a URL, reads the form,
// sends the answer of the act. Pages use the language of the payment until the payer changes it;
// then every link carries the choice, so no cookie is needed.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Payment } from './objects.ts'
import { type Answer, createActs, type Visit } from './pages-acts.ts'
import { pageHeaders, renderPage } from './pages-layout.ts'
import { type Drawn, endPage } from './pages-pay.ts'
import type { Store } from './store.ts'
import { type Language, languages, wordsOf } from './words.ts'

// A card form has some 200 bytes.
const formBytesMax = 16 * 1024

/** Answers requests for `/pay/…` and `/sbp/…`; false for any other request. */
export function createPages(store: Store) {
  const acts = createActs(store)

  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const url = URL.parse(`http://bank${request.url ?? '/'}`)
    const [, root = '', id = '', ...places] = url?.pathname.split('/') ?? []
    if (url === null || (root !== 'pay' && root !== 'sbp') || id === '') return false
    const chosen = languages.find((language) => language === url.searchParams.get('lang'))
    const payment = store.payment(id)
    const send = (page: Drawn, status: number, more: Record<string, string> = {}) => {
      const language = chosen ?? payment?.sim.locale ?? 'ru'
      const isApp = root === 'sbp'
      const text = renderPage({ ...page, language, isApp, switchTo: otherLanguage(url, language) })
      response.writeHead(status, { ...pageHeaders, ...more }).end(text)
      return true
    }
    const words = wordsOf(chosen ?? payment?.sim.locale ?? 'ru')
    const problem = (title: string, line: string) =>
      endPage(words, { kind: 'bad', title, lines: [line] }, null)

    const place = [root, ...places].join('/')
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
    const act = acts.get(`${method} ${place}`)
    const allowed = ['GET', 'POST'].filter((verb) => acts.has(`${verb} ${place}`))
    if (payment === undefined || allowed.length === 0) {
      return send(problem(words.unknownTitle, words.unknown), 404)
    }
    if (act === undefined) {
      return send(problem(words.wrongTitle, words.wrong), 405, { allow: allowed.join(', ') })
    }
    const form = method === 'POST' ? await readForm(request) : new URLSearchParams()
    if (form === null) {
      return send(problem(words.wrongTitle, words.wrong), 413)
    }
    const visit = visitOf(store, { root, payment, chosen, form, query: url.searchParams })
    const answer: Answer = await act(visit)
    if ('page' in answer) return send(answer.page, answer.status ?? 200)
    sendBare(response, answer)
    return true
  }
}

type Arrival = Pick<Visit, 'payment' | 'form' | 'query'> & {
  readonly root: 'pay' | 'sbp'
  readonly payment: Payment
  readonly chosen: Language | undefined
}

function visitOf(store: Store, { root, payment, chosen, form, query }: Arrival): Visit {
  const language = chosen ?? payment.sim.locale
  return {
    payment,
    form,
    query,
    language,
    words: wordsOf(language),
    shopName: store.settings.shopName,
    remainingMs: store.remainingMs(payment.id),
    at(place, parameters = {}) {
      const kept = new URLSearchParams()
      for (const [name, value] of Object.entries(parameters)) kept.set(name, String(value))
      if (chosen !== undefined) kept.set('lang', chosen)
      return `/${root}/${payment.id}${place}${kept.size === 0 ? '' : `?${kept}`}`
    },
  }
}

function otherLanguage(url: URL, language: Language): string {
  const parameters = new URLSearchParams(url.searchParams)
  parameters.set('lang', languages.find((one) => one !== language) ?? language)
  return `${url.pathname}?${parameters}`
}

/** Null when the body is too large for a form. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes <= formBytesMax) chunks.push(chunk)
  }
  return bytes > formBytesMax ? null : new URLSearchParams(Buffer.concat(chunks).toString())
}

function sendBare(response: ServerResponse, answer: Exclude<Answer, { page: Drawn }>): void {
  const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  if ('to' in answer) {
    response.writeHead(303, { ...headers, location: answer.to }).end()
    return
  }
  response
    .writeHead(200, { ...headers, 'content-type': 'application/json' })
    .end(JSON.stringify(answer.json))
}
