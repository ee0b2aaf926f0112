// The stage of journeys through pages: the cabinet with real modules, serving the pages as built
// for customers, and a gateway on the same database, so that its charges appear in the cabinet.
// Signed-in windows carry the cookies of a person of the stage.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { build } from 'vite'
import type { BookId } from '../../../src/platform/ids.ts'
import { type CabinetBrowser, createCabinetStage } from '../../stages/cabinet.ts'
import { startDataPlane } from '../../stages/data-plane.ts'

const root = join(import.meta.dirname, '../../..')

export type SiteStage = Awaited<ReturnType<typeof createSiteStage>>

export async function createSiteStage(options: { readonly catalogueText?: string } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-site-'))
  // Its own directory: journeys that run in parallel would overwrite each other's build.
  await build({
    configFile: join(root, 'web/vite.config.ts'),
    logLevel: 'error',
    build: { outDir: directory, emptyOutDir: true },
  })
  const stage = await createCabinetStage({ ...options, pagesDirectory: directory })
  const served = await startDataPlane(stage)
  return {
    ...stage,
    gatewayUrl: served.url,
    vendor: served.vendor,

    /** An active key, created the way the cabinet does. */
    async keyOf(book: BookId): Promise<string> {
      const { db, keys } = stage
      const issued = await db.transaction((tx) => keys.issue(tx, book))
      await db.transaction((tx) => keys.confirm(tx, book, issued.keyId))
      return issued.plain
    },

    /** Signs the window in as this person. */
    async signIn(page: Page, own: CabinetBrowser): Promise<void> {
      const cookie = [...own.jar].map(([name, value]) => `${name}=${value}`).join('; ')
      await page.setExtraHTTPHeaders({ cookie })
    },

    async end() {
      await served.end()
      await stage.end()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
