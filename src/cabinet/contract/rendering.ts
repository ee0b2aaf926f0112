// What the cabinet and the page renderer, which Vite builds from web/server/render.tsx, expect of
// each other.
import type { Language } from './contract.ts'

/** Answers a GET route of the contract that needs no session. */
export type PublicRead = (
  route: string,
  options: {
    readonly params?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string | number | undefined>>
  },
) => Promise<unknown>

export type RenderedPage = {
  readonly title: string
  readonly description: string
  /** The markup of the page. */
  readonly html: string
  /** JSON: the answers that the markup shows, so that the browser need not request them again. */
  readonly state: string
}

export type PageRenderer = {
  /** The addresses of the pages that everybody may read, in the order of the site map. */
  readonly paths: readonly string[]
  /** Pages for everybody that search engines need not find: sign-in and sign-up. */
  readonly unlisted: readonly string[]
  /** The addresses of the pages that only browsers render; `$id` stands for any part. */
  readonly byBrowsers: readonly string[]
  /** Addresses that lead to another page, with the address of that page. */
  readonly moved: Readonly<Record<string, string>>
  /** Pages whose contents depend on the query of their address. */
  readonly withQuery: readonly string[]
  /** Undefined when the page cannot be shown now, because an answer that it needs is missing. */
  render(path: string, language: Language): Promise<RenderedPage | undefined>
}

/** The function `createRenderer` of the built file. Call it once in a process. */
export type CreateRenderer = (read: PublicRead) => PageRenderer
