// The files that we ship for deployment, read and parsed.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import type { Program } from '../../src/platform/programs.ts'

export const root = join(import.meta.dirname, '../..')
export const read = (path: string) => readFileSync(join(root, path), 'utf8')

export type Tree = Record<string, unknown>
/** The value at a path of a parsed file. */
export function at(tree: unknown, ...path: (string | number)[]): unknown {
  return path.reduce((here, step) => (here as Record<string | number, unknown>)?.[step], tree)
}

export const compose = parse(read('compose.yaml'), { merge: true }) as Tree
const manifests = globSync('deploy/kubernetes/*.yaml', { cwd: root }).flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => {
    assert.deepEqual(document.errors, [], file)
    return document.toJS() as Tree
  }),
)
export const manifest = (kind: string, name: string) => {
  const found = manifests.find((one) => one.kind === kind && at(one, 'metadata', 'name') === name)
  assert.ok(found, `${kind} ${name}`)
  return found
}

/** The file of a systemd unit; those with a socket have instances. */
export const unitFile = (name: string) =>
  `deploy/systemd/tollgate-${name}${/gateway|cabinet|console/.test(name) ? '@' : ''}.service`

/** The services of compose.yaml, and the units and Kubernetes names of the programs. */
export const COMPOSED: Readonly<Record<Program, string>> = {
  ...{ serve: 'gateway', cabinet: 'cabinet', console: 'console', work: 'worker' },
  ...{ op: 'op', migrate: 'migrate' },
}
export const UNITS: Readonly<Record<Program, string>> = { ...COMPOSED, op: 'operator' }
