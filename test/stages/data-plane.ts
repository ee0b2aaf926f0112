// A gateway in front of the vendor stand-in, built on the modules of a cabinet stage.
import { createGateway, type GatewayOptions } from '../../src/gateway/gateway.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { Masked } from '../../src/platform/masked.ts'
import { createMetrics } from '../../src/platform/metrics/metrics.ts'
import { createUpstreams } from '../../src/upstreams/upstreams.ts'
import { startVendor } from '../../stand-ins/vendor/vendor.ts'
import { keySettings, quiet } from '../support/harness.ts'
import type { CabinetStage } from './cabinet.ts'

export const gatewayLimits: GatewayOptions['settings'] = {
  cell: 0,
  slug: keySettings.slug,
  versions: ['2023-06-01', '2026-10-21'],
  bodyBytesMax: 33_554_432,
  requestSecondsMax: 3_600,
  addressHeader: 'none',
  cabinetUrl: 'https://cabinet.example',
  cabinetOrigin: 'https://cabinet.example',
}

/** The settings of a test upstream, without name, address and keys. */
export const upstreamDefaults = {
  models: [],
  priority: 1,
  weight: 1,
  connections: 4_096,
  http2: false,
  queueTimeoutMs: 30_000,
  connectTimeoutMs: 10_000,
  keepAliveMs: 30_000,
  connectionMaxAgeMs: 300_000,
  headersTimeoutMs: 60_000,
  streamHeadersTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  temperatureMax: 1,
}

type StageModules = Pick<CabinetStage, 'db' | 'ledger' | 'keys' | 'pricing'>

export async function startDataPlane({ db, ledger, keys, pricing }: StageModules) {
  const vendor = await startVendor()
  const ground = { clock: systemClock, log: quiet }
  const only = {
    ...upstreamDefaults,
    name: 'only',
    url: vendor.url,
    keys: vendor.keys.slice(0, 1).map((key) => new Masked(key)),
  }
  const { instance } = ledger
  const upstreams = createUpstreams({ ...ground, upstreams: [only], db, instance })
  // Every second check is stored, and the status page reads what is stored.
  await upstreams.start()
  await upstreams.start()
  const gateway = createGateway({
    ...{ ...ground, keys, ledger, pricing, upstreams, metrics: createMetrics() },
    waitBytesMax: 2 ** 30,
    settings: gatewayLimits,
  })
  const port = await gateway.listen(0, '127.0.0.1')
  return {
    url: `http://127.0.0.1:${port}`,
    vendor,
    async end() {
      gateway.closeAll()
      await gateway.drain({ idleMs: 0, limitMs: 0 })
      await upstreams.close()
      await vendor.close()
    },
  }
}
