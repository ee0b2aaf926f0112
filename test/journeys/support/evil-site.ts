// Another site, for journeys that must survive it: a page, a page that frames any URL, and a page
// with a form to any URL.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type EvilSite = Awaited<ReturnType<typeof openEvilSite>>

export async function openEvilSite() {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://evil')
    const to = searchParams.get('to') ?? ''
    const pages: Readonly<Record<string, string>> = {
      '/frame': `<iframe src="${to}"></iframe>`,
      // The closest a form comes to JSON: name, equals sign and value together are an object.
      '/form': `<form method="post" enctype="${searchParams.get('enctype')}" action="${to}">
        <input type="hidden" name='{"language":"en","rest":"' value='"}'>
        <button>Go</button></form>`,
    }
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><html lang="en"><title>Other</title>${pages[pathname] ?? ''}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    /** Another port of our own host is the same site: the browser sends cookies from there. */
    origins: [`http://localhost:${port}`, `http://127.0.0.1:${port}`],
    close(): void {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The URL of one of its pages. */
export function evilPage(origin: string, name: 'frame' | 'form', query: Record<string, string>) {
  return `${origin}/${name}?${new URLSearchParams(query)}`
}
