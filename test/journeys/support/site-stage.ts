// The stage of journeys through pages: the cabinet with every room real, serving the pages as they
// are built for customers, and a gateway beside it on the same database, so that what is spent
// there is seen here. Signed-in windows carry the cookies of a person of the stage.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { build } from 'vite'
import type { BookId } from '../../../src/platform/ids.ts'
import { createCabinetStage, type Visitor } from '../../stages/cabinet.ts'
import { startDataPlane } from '../../stages/data-plane.ts'

const root = join(import.meta.dirname, '../../..')

export type SiteStage = Awaited<ReturnType<typeof createSiteStage>>

export async function createSiteStage() {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-site-'))
  // A directory of its own: journeys that run side by side would build over one another.
  await build({
    configFile: join(root, 'web/vite.config.ts'),
    logLevel: 'error',
    build: { outDir: directory, emptyOutDir: true },
  })
  const stage = await createCabinetStage({ pagesDirectory: directory })
  const served = await startDataPlane(stage)
  return {
    ...stage,
    gatewayUrl: served.url,

    /** A key in force, made where the cabinet would make it. */
    async keyOf(book: BookId): Promise<string> {
      const { db, keys } = stage
      const issued = await db.transaction((tx) => keys.issue(tx, book))
      await db.transaction((tx) => keys.confirm(tx, book, issued.keyId))
      return issued.plain
    },

    /** The window is theirs from now on. */
    async signIn(page: Page, own: Visitor): Promise<void> {
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
