// Search in one field: the same searches as `op find`, as links for the console's pages.
import { CommandError } from '../../desk/command-error.ts'
import { maskKeys } from '../../desk/command-line.ts'
import type { OperatorModules } from '../../desk/modules.ts'
import { findHits, type Hit } from '../../find/find.ts'
import type * as contract from '../contract/contract.ts'

export async function search(modules: OperatorModules, text: string): Promise<contract.Found> {
  try {
    const hits = await findHits({ modules }, maskKeys(text))
    return { hits: hits.map(hitOf), advice: null }
  } catch (error) {
    // Nothing was found; its sentence says what was perhaps meant.
    if (error instanceof CommandError) return { hits: [], advice: error.message }
    throw error
  }
}

/** How each kind is named: the fields of its result that are id, text and state. */
const FIELDS: Readonly<Record<Hit['kind'], readonly [id: string, text: string, state: string]>> = {
  account: ['id', 'email', 'closedAt'],
  book: ['', '', ''],
  key: ['key', 'last4', 'state'],
  order: ['id', 'email', 'state'],
  review: ['', '', ''],
  request: ['id', 'model', 'ending'],
  session: ['session', 'requests', ''],
  promo: ['code', 'note', ''],
  registration: ['id', 'email', 'state'],
}

function hitOf({ kind, book, result }: Hit): contract.Hit {
  const [id, text, state] = FIELDS[kind]
  const field = (name: string) => {
    const value = (result as Readonly<Record<string, unknown>>)[name]
    return value === null || value === undefined ? '' : String(value)
  }
  return {
    kind,
    id: field(id) || String(book ?? ''),
    text: field(text),
    state: kind === 'account' ? (field(state) === '' ? null : 'closed') : field(state) || null,
    book: book === undefined ? null : String(book),
  }
}
