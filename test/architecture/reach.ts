// Which files of src may have side effects: environment, time, random values, terminal, network,
// database. Each has a short list of files, so that a test can set the clock and a reviewer knows
// where a secret can enter or leave. Tests and tools are exempt.
import type { Finding, Repository, Rule, SourceFile } from './tree.ts'
import { matches } from './tree.ts'

type Reach = { name: string; promise: string; pattern: RegExp; places: RegExp; fix: string }

const REACHES: Reach[] = [
  {
    name: 'env',
    promise: 'only the configuration reads the environment',
    pattern: /\bprocess\.env\b|\bprocess\[/g,
    places: /^src\/platform\/config\.ts$/,
    fix: 'take the value as an argument; platform/config.ts reads it',
  },
  {
    name: 'clock',
    promise: 'only platform/clock.ts reads the time',
    pattern:
      /\bDate\.now\b|\bnew Date\b|\bperformance\.now\b|\bprocess\.hrtime\b|\bTemporal\.Now\b/g,
    places: /^src\/platform\/clock\.ts$/,
    fix: 'take a Clock as an argument, or let the database say the time',
  },
  {
    name: 'randomness',
    promise: 'only platform/ids.ts and keys/secret.ts create random values',
    pattern:
      /\bMath\.random\b|\brandom(?:Bytes|UUID|UUIDv7|Int|Fill|FillSync)\b|\bgetRandomValues\b/g,
    places: /^src\/(?:platform\/ids|keys\/secret)\.ts$/,
    fix: 'use platform/ids.ts (or keys/secret.ts for a key)',
  },
  {
    name: 'console',
    promise: 'only the log, the operator commands, main and start write to the terminal',
    // Not a setting or a program of that name.
    pattern: /(?<![.\w])console(?=[.[])|=\s*console\b|\bprocess\.std(?:out|err)\b/g,
    places: /^src\/(?:platform\/log\.ts|operator\/.*|main\.ts|start\.ts)$/,
    fix: 'write to the log, or return the text to the operator command',
  },
  {
    name: 'dial-out',
    promise: 'only upstreams, payments, vendor-bill, acts and status make outgoing HTTP requests',
    pattern: /(?<![.\w])fetch\(|\bhttps?\.(?:request|get)\(/g,
    places: /^src\/(?:upstreams|payments|vendor-bill|acts|status)\//,
    fix: 'only upstreams, payments, vendor-bill, acts and status may; call one of them',
  },
  {
    name: 'test-branch',
    promise: 'product code has no branch for tests and no fake part',
    pattern:
      /\b(?:is|in|for)Tests?(?:ing|Mode|Run)?\b|\btestMode\b|\b\w*(?:Fake|Mock)\w*\b|\bfake\w*\b/g,
    places: /^$/,
    fix: 'let the real part run against a stand-in server',
  },
]

export const reachRules: Rule[] = [
  ...REACHES.map(({ name, promise, pattern, places, fix }) => ({
    name,
    promise,
    check: (repository: Repository) =>
      product(repository)
        .filter((file) => !places.test(file.path))
        .flatMap((file) => [
          ...matches(file.code, pattern).map(({ line }) => ({ file: file.path, line, fix })),
          ...(name === 'dial-out' ? packageFindings(file, ['undici'], fix) : []),
        ]),
  })),
  {
    name: 'db-value',
    promise: 'only queries, top files and platform import the database; others only its types',
    check: databaseValues,
  },
  {
    name: 'better-auth',
    promise: 'only the accounts module imports better-auth',
    check: (repository) =>
      product(repository)
        .filter((file) => file.module !== 'accounts')
        .flatMap((file) =>
          packageFindings(
            file,
            ['better-auth', '@better-auth'],
            'call the entry file of accounts',
            true,
          ),
        ),
  },
  {
    name: 'dev-dependency',
    promise: 'src imports only packages that the production install has',
    check: undeclaredPackages,
  },
]

function product(repository: Repository): SourceFile[] {
  return repository.files.filter((file) => file.folder === 'src' && !file.isTest)
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '')
}

function packageFindings(
  file: SourceFile,
  names: string[],
  fix: string,
  typesToo = false,
): Finding[] {
  return file.imports
    .filter((edge) => typesToo || edge.kind !== 'type')
    .filter((edge) =>
      names.includes(packageOf(edge.specifier).replace(/^(@better-auth)\/.*/, '$1')),
    )
    .map((edge) => ({ file: file.path, line: edge.line, fix }))
}

function databaseValues(repository: Repository): Finding[] {
  const fix = 'move the statement to queries.ts; elsewhere `import type` only'
  return product(repository)
    .filter((file) => !['platform', 'wiring', 'database'].includes(file.module ?? ''))
    .filter((file) => !file.path.endsWith('/queries.ts'))
    .flatMap((file) => [
      ...file.imports
        .filter((edge) => edge.target?.path === 'src/platform/db/db.ts' && edge.kind !== 'type')
        .map((edge) => ({ file: file.path, line: edge.line, fix })),
      // Importing the driver would bypass db.ts.
      ...packageFindings(file, ['pg', 'kysely'], fix),
    ])
}

type Manifest = { dependencies?: Record<string, string> }

function undeclaredPackages(repository: Repository): Finding[] {
  const manifest = JSON.parse(repository.read('package.json') ?? '{}') as Manifest
  const declared = new Set(Object.keys(manifest.dependencies ?? {}))
  return product(repository).flatMap((file) =>
    file.imports
      .filter((edge) => edge.kind !== 'worker' && !/^(?:\.|node:)/.test(edge.specifier))
      .filter((edge) => !declared.has(packageOf(edge.specifier)))
      .map((edge) => ({
        file: file.path,
        line: edge.line,
        fix: `${packageOf(edge.specifier)} is not in "dependencies" of package.json`,
      })),
  )
}
