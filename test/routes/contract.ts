// The routes of the cabinet as the contract's source lists them, with the action that the comment
// before a route names, and the paths that the accounts module serves.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Action, levels } from '../../src/accounts/levels.ts'

const root = join(import.meta.dirname, '../..')

export type ContractRoute = { readonly name: string; readonly action: Action | undefined }

/** Sorted by path, then method. */
export function contractRoutes(): readonly ContractRoute[] {
  const found = globSync('src/cabinet/contract/*.ts', { cwd: root }).flatMap((path) =>
    routesIn(readFileSync(join(root, path), 'utf8')),
  )
  return found.toSorted((one, other) => (pathFirst(one.name) < pathFirst(other.name) ? -1 : 1))
}

function routesIn(source: string): ContractRoute[] {
  const route = /(\/\*\*(?:(?!\*\/).)*\*\/\s*)?^ {2}'((?:GET|POST) \/api\/[^']+)':/gms
  return [...source.matchAll(route)].map(([, comment = '', name = '']) => ({
    name,
    action: [...comment.matchAll(/`([a-z.-]+)`/g)].map(([, word = '']) => word).find(isAction),
  }))
}

function isAction(word: string): word is Action {
  return Object.hasOwn(levels, word)
}

function pathFirst(name: string): string {
  return name.split(' ').reverse().join(' ')
}

/** What accounts/ serves below /api/auth, from its tables of routes. */
export function servedAuthRoutes(): ReadonlySet<string> {
  const files = globSync('src/accounts/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] })
  const names = files.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/'(GET|POST) (\/[^'\s]+)': \{/g)].map(
      ([, method = '', rest = '']) => `${method} /api/auth${rest}`,
    ),
  )
  return new Set(names)
}
