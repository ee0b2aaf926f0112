// Finds the current text of each database function: `src/<module>/sql/*.sql`.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type SqlFile = { readonly path: string; readonly text: string }

const root = join(import.meta.dirname, '..')
const HEAD = /^create or replace function ([a-z_]+)\(/gm

export function readSqlFiles(): SqlFile[] {
  return globSync('src/*/sql/*.sql', { cwd: root })
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** The names of the functions that a file creates, in its order. */
export function functionsIn({ text }: SqlFile): string[] {
  return [...text.matchAll(HEAD)].map(([, name = '']) => name)
}
