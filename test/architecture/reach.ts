// What product code may touch of the world outside: environment, time, chance, terminal, network,
// database. Each has a short list of places, so that a test can turn the clock by hand and a
// reviewer knows where a secret can enter or leave. Tests and tools are free.
import type { Finding, House, Rule, SourceFile } from './tree.ts'
import { matches } from './tree.ts'

type Reach = { name: string; promise: string; pattern: RegExp; places: RegExp; cure: string }

const REACHES: Reach[] = [
  {
    name: 'env',
    promise: 'only the configuration reads the environment',
    pattern: /\bprocess\.env\b|\bprocess\[/g,
    places: /^src\/platform\/config\.ts$/,
    cure: 'take the value as an argument; platform/config.ts reads it',
  },
  {
    name: 'clock',
    promise: 'only the clock asks what time it is',
    pattern:
      /\bDate\.now\b|\bnew Date\b|\bperformance\.now\b|\bprocess\.hrtime\b|\bTemporal\.Now\b/g,
    places: /^src\/platform\/clock\.ts$/,
    cure: 'take a Clock as an argument, or let the database say the time',
  },
  {
    name: 'randomness',
    promise: 'only ids and key secrets draw randomness',
    pattern:
      /\bMath\.random\b|\brandom(?:Bytes|UUID|UUIDv7|Int|Fill|FillSync)\b|\bgetRandomValues\b/g,
    places: /^src\/(?:platform\/ids|keys\/secret)\.ts$/,
    cure: 'use platform/ids.ts (or keys/secret.ts for a key)',
  },
  {
    name: 'console',
    promise: 'only the log, the operator commands and main write to the terminal',
    pattern: /\bconsole\b|\bprocess\.std(?:out|err)\b/g,
    places: /^src\/(?:platform\/log\.ts|operator\/.*|main\.ts)$/,
    cure: 'write to the log, or return the text to the operator command',
  },
  {
    name: 'dial-out',
    promise: 'only upstreams and payments make outgoing HTTP requests',
    pattern: /(?<![.\w])fetch\(|\bhttps?\.(?:request|get)\(/g,
    places: /^src\/(?:upstreams|payments)\//,
    cure: 'who may dial out is a short list: upstreams and payments',
  },
  {
    name: 'test-branch',
    promise: 'product code has no branch for tests and no fake part',
    pattern:
      /\b(?:is|in|for)Tests?(?:ing|Mode|Run)?\b|\btestMode\b|\b\w*(?:Fake|Mock)\w*\b|\bfake\w*\b/g,
    places: /^$/,
    cure: 'let the real part run against a stand-in server',
  },
]

export const reachRules: Rule[] = [
  ...REACHES.map(({ name, promise, pattern, places, cure }) => ({
    name,
    promise,
    check: (house: House) =>
      product(house)
        .filter((file) => !places.test(file.path))
        .flatMap((file) => [
          ...matches(file.code, pattern).map(({ line }) => ({ file: file.path, line, cure })),
          ...(name === 'dial-out' ? packageFindings(file, ['undici'], cure) : []),
        ]),
  })),
  {
    name: 'db-value',
    promise: 'only queries, wiring and platform hold the database itself; its types may travel',
    check: databaseValues,
  },
  {
    name: 'better-auth',
    promise: 'only the accounts room knows better-auth',
    check: (house) =>
      product(house)
        .filter((file) => file.room !== 'accounts')
        .flatMap((file) =>
          packageFindings(file, ['better-auth', '@better-auth'], 'ask the door of accounts', true),
        ),
  },
  {
    name: 'dev-dependency',
    promise: 'src imports only packages that the production install has',
    check: undeclaredPackages,
  },
]

function product(house: House): SourceFile[] {
  return house.files.filter((file) => file.folder === 'src' && !file.isTest)
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '')
}

function packageFindings(
  file: SourceFile,
  names: string[],
  cure: string,
  typesToo = false,
): Finding[] {
  return file.imports
    .filter((edge) => typesToo || edge.kind !== 'type')
    .filter((edge) =>
      names.includes(packageOf(edge.specifier).replace(/^(@better-auth)\/.*/, '$1')),
    )
    .map((edge) => ({ file: file.path, line: edge.line, cure }))
}

function databaseValues(house: House): Finding[] {
  const cure = 'move the statement to queries.ts; elsewhere `import type` only'
  return product(house)
    .filter((file) => file.room !== 'platform' && file.room !== 'wiring')
    .filter((file) => !file.path.endsWith('/queries.ts'))
    .flatMap((file) => [
      ...file.imports
        .filter((edge) => edge.target?.path === 'src/platform/db/db.ts' && edge.kind !== 'type')
        .map((edge) => ({ file: file.path, line: edge.line, cure })),
      // The driver would be a way around db.ts.
      ...packageFindings(file, ['pg', 'kysely'], cure),
    ])
}

type Manifest = { dependencies?: Record<string, string> }

function undeclaredPackages(house: House): Finding[] {
  const manifest = JSON.parse(house.read('package.json') ?? '{}') as Manifest
  const declared = new Set(Object.keys(manifest.dependencies ?? {}))
  return product(house).flatMap((file) =>
    file.imports
      .filter((edge) => edge.kind !== 'worker' && !/^(?:\.|node:)/.test(edge.specifier))
      .filter((edge) => !declared.has(packageOf(edge.specifier)))
      .map((edge) => ({
        file: file.path,
        line: edge.line,
        cure: `${packageOf(edge.specifier)} is not in "dependencies" of package.json`,
      })),
  )
}
