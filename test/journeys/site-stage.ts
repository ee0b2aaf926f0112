// The stage of journeys through pages: the cabinet with every room real, serving the pages as they
// are built for customers, and a gateway beside it on the same database, so that what is spent
// there is seen here. Signed-in windows carry the cookies of a person of the stage.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { build } from 'vite'
import { createGateway } from '../../src/gateway/gateway.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { BookId } from '../../src/platform/ids.ts'
import { Masked } from '../../src/platform/masked.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { createUpstreams } from '../../src/upstreams/upstreams.ts'
import { startVendor } from '../../stand-ins/vendor/vendor.ts'
import { createCabinetStage, type Visitor } from '../cabinet.ts'
import { keySettings, quiet } from '../harness.ts'

const root = join(import.meta.dirname, '../..')

export type SiteStage = Awaited<ReturnType<typeof createSiteStage>>
type CabinetRooms = Awaited<ReturnType<typeof createCabinetStage>>

export async function createSiteStage() {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-site-'))
  // A directory of its own: journeys that run side by side would build over one another.
  await build({
    configFile: join(root, 'web/vite.config.ts'),
    logLevel: 'error',
    build: { outDir: directory, emptyOutDir: true },
  })
  const stage = await createCabinetStage({ pagesDirectory: directory })
  const served = await startGateway(stage)
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

/** What customers' programs call, over the same rooms. */
async function startGateway({ db, ledger, keys, pricing }: CabinetRooms) {
  const vendor = await startVendor()
  const target = {
    name: 'only',
    url: vendor.url,
    keys: vendor.keys.slice(0, 1).map((key) => new Masked(key)),
    models: [],
    priority: 1,
    weight: 1,
    connections: 64,
    headersTimeoutMs: 60_000,
    streamHeadersTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    temperatureMax: 1,
  }
  const ground = { clock: systemClock, log: quiet }
  const { instance } = ledger
  const upstreams = createUpstreams({ ...ground, upstreams: [target], db, instance })
  // Every second look is written down, and that is what the page about the service reads.
  await upstreams.start()
  await upstreams.start()
  const gateway = createGateway({
    ...{ ...ground, keys, ledger, pricing, upstreams, metrics: createMetrics() },
    waitBytesMax: 2 ** 30,
    limits: {
      cell: 0,
      slug: keySettings.slug,
      bodyBytesMax: 33_554_432,
      requestSecondsMax: 3_600,
      addressHeader: 'none',
      cabinetUrl: 'https://cabinet.example',
    },
  })
  const port = await gateway.listen(0, '127.0.0.1')
  return {
    url: `http://127.0.0.1:${port}`,
    async end() {
      gateway.closeAll()
      await gateway.drain({ idleMs: 0, limitMs: 0 })
      await upstreams.close()
      await vendor.close()
    },
  }
}
