// Formats the figures of the relay benchmark as a table, and checks its gates.

type Figures = Readonly<Record<string, number>>

const RELAYS = ['ours', 'oneKey', 'bare', 'nginx', 'portkey'] as const
const TITLES: Record<(typeof RELAYS)[number], string> = {
  ours: 'ours, durable',
  oneKey: '  with one key',
  bare: 'bare relay',
  nginx: 'nginx',
  portkey: 'Portkey',
}

/**
 * The gates: at most these, and at least six times less CPU than Portkey. They allow for the cost
 * of a standard HTTP server and of a hold that is committed before the relay.
 */
export const GATES = {
  cpuVsBareRelay: 2,
  cpuVsNginx: 7.5,
  cpuVsPortkey: 6,
  sseCpuVsNginx: 2.6,
  bytesPerStream: 40_000,
  addedP50Ms: 2,
}

export function relayTable(f: Figures): string[] {
  const rows = RELAYS.map((relay) => {
    const name = relay === 'oneKey' ? 'Ours' : relay[0]?.toUpperCase() + relay.slice(1)
    const small = relay === 'oneKey' ? 'oneKeyOurs' : `small${name}`
    const isOneKey = relay === 'oneKey'
    return [
      TITLES[relay],
      text(f[`${small}Cpu`], 1),
      text(f[`${small}Rate`], 0),
      ...(isOneKey
        ? Array(7).fill('')
        : [
            text(f[`large${name}Cpu`], 1),
            text(f[`sse${name}Cpu`], 1),
            text(f[`sse${name}P50`], 0),
            text(f[`sse${name}P99`], 0),
            text(kilobytes(f[`memory2000${name}`]), 1),
            text(kilobytes(f[`memory9000${name}`]), 1),
            `  ${text(f[`added${name}P50`], 2)} / ${text(f[`added${name}P99`], 2)}`,
          ]),
    ]
  })
  const heads = [
    ['', 'small', 'small', '46 KB', 'events', 'delay µs', '', 'KB/stream', '', 'added ms'],
    ['', 'µs', 'req/s', 'µs', 'CPU-s/M', 'p50', 'p99', '2000', '9000', 'p50 / p99'],
  ]
  return [...heads, ...rows].map(line).concat('', ratios(f), howKnown(f))
}

function line(cells: readonly string[]): string {
  const [title = '', ...rest] = cells
  return title.padEnd(16) + rest.map((cell) => cell.padStart(10)).join('')
}

function text(value: number | undefined, digits: number): string {
  return value === undefined || Number.isNaN(value) ? '-' : value.toFixed(digits)
}

function kilobytes(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : bytes / 1_024
}

function ratios(f: Figures): string[] {
  return [
    `CPU per request: ${text(f.cpuVsBareRelay, 2)} x the bare relay ` +
      `(gate ${GATES.cpuVsBareRelay}), ` +
      `${text(f.cpuVsNginx, 2)} x nginx (gate ${GATES.cpuVsNginx})`,
    `Portkey needs ${text(f.cpuVsPortkey, 1)} x our CPU (gate ${GATES.cpuVsPortkey}), ` +
      `${text(f.cpuVsPortkey46k, 1)} x with 46 KB; JSON only, its streams crash`,
    `CPU per event: ${text(f.sseCpuVsNginx, 2)} x nginx (gate ${GATES.sseCpuVsNginx})`,
    `memory per stream: ${text((f.bytesPerStream ?? 0) / 1_000, 1)} KB ` +
      `(gate ${GATES.bytesPerStream / 1_000}), ` +
      `nginx's ${text((f.bytesPerStreamNginx ?? 0) / 1_000, 1)}`,
    `added at 300 req/s: p50 ${text(f.addedP50Ms, 2)} ms (gate ${GATES.addedP50Ms}), ` +
      `p99 ${text(f.addedP99Ms, 2)} ms`,
  ]
}

/** Shows that stub and load are not the bottleneck: their own rate, and their idle time. */
function howKnown(f: Figures): string[] {
  const share = (value: number | undefined) => `${text((value ?? Number.NaN) * 100, 0)} %`
  return [
    `stub and load are not the limit: alone on one core ${text(f.smallDirectRate, 0)} req/s ` +
      `(46 KB: ${text(f.largeDirectRate, 0)}), through us ${text(f.smallOursRate, 0)} ` +
      `(${text(f.largeOursRate, 0)}), for which they took ${share(f.smallOursTools)} ` +
      `(${share(f.largeOursTools)}) of their core`,
    `our core was busy ${share(f.smallOursBusy)}, nginx's ${share(f.smallNginxBusy)}; PostgreSQL ` +
      `used ${text(f.smallOursPostgres, 1)} µs a request`,
    `others on this machine took ${share(f.othersShare)} of a core; above 20 % trust no figure`,
  ]
}
