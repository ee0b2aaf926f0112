// op secrets list, op secrets keys: how much still depends on each secret, so that an operator
// knows when a former one can be withdrawn. Both change nothing.
import { describeVersions, type SecretVersions } from '../platform/secret-versions.ts'
import { formatCount } from './desk/amounts.ts'
import { EXIT_DONE, EXIT_FAILED, usageError } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'
import { tableOf } from './desk/table.ts'

const COLUMNS = [
  { head: 'secret' },
  { head: 'id', side: 'right' },
  { head: 'made' },
  { head: 'how many', side: 'right' },
  { head: 'here' },
] as const

const KEY_COLUMNS = [
  { head: 'key' },
  { head: 'ends in' },
  { head: 'state' },
  { head: 'issued' },
  { head: 'book', side: 'right' },
  { head: 'account' },
] as const

/** Lines are never cut: operators copy them. */
const WIDTH_MAX = 200
const KEYS_LISTED = 100

const NAMES = { tag: 'keys.tagSecret', lookup: 'keys.lookupSecret' } as const

type Use = {
  readonly secret: string
  readonly id: number
  readonly made: string
  readonly count: number
  /** What the settings of this program say about it. */
  readonly here: 'makes' | 'accepted' | 'not accepted' | 'not read by op'
}

export async function listSecrets({ modules, say }: Desk): Promise<number> {
  const { keys, accounts, keySecrets } = modules
  const uses: Use[] = [
    ...(await keys.secretUses()).map(({ secret, id, count }) => {
      const here = roleOf(keySecrets[secret], id)
      const made = secret === 'tag' ? 'issued keys' : 'imported keys'
      return { secret: NAMES[secret], id, made, count, here }
    }),
    ...(await accounts.secretUses()).map(({ id, what, count }) => ({
      ...{ secret: 'accounts.secret', id, made: what, count, here: 'not read by op' as const },
    })),
  ]
  const rows = uses.map((one) => [
    ...[one.secret, String(one.id), one.made, formatCount(one.count), one.here],
  ])
  const inSuccession = (['tag', 'lookup'] as const).flatMap((name) => {
    const text = describeVersions(keySecrets[name])
    return text === undefined ? [] : [`${NAMES[name]} is in succession: ${text}`]
  })
  const table = rows.length === 0 ? ['nothing was made yet'] : tableOf(COLUMNS, rows, WIDTH_MAX)
  say({ uses, inSuccession }, [...table, ...inSuccession])
  return uses.some((one) => one.here === 'not accepted') ? EXIT_FAILED : EXIT_DONE
}

export async function listSecretKeys(desk: Desk, secret = '', id = ''): Promise<number> {
  if (secret !== 'tag' && secret !== 'lookup') throw usageError('the secret is tag or lookup')
  if (!/^[1-9]\d{0,2}$/.test(id)) throw usageError(`the id is a number from 1 to 999, not ${id}`)
  const { keys, accounts } = desk.modules
  const wanted = desk.read('limit', readLimit, 'a number from 1 to 100000') ?? KEYS_LISTED
  const found = await keys.listBySecret({ secret, id: Number(id), limit: wanted })
  const listed = []
  for (const key of found) {
    listed.push({ ...key, email: (await accounts.ownerOf(key.book))?.email ?? '' })
  }
  const rows = listed.map((one) => [
    ...[one.keyId, one.last4, one.state, one.createdAt.toISOString().slice(0, 10)],
    ...[String(one.book), one.email],
  ])
  const lines = rows.length === 0 ? ['no current key'] : tableOf(KEY_COLUMNS, rows, WIDTH_MAX)
  desk.say({ keys: listed }, lines)
  return EXIT_DONE
}

function roleOf(versions: SecretVersions, id: number): Use['here'] {
  if (versions[0].id === id) return 'makes'
  return versions.some((one) => one.id === id) ? 'accepted' : 'not accepted'
}

function readLimit(text: string): number | undefined {
  return /^[1-9]\d{0,5}$/.test(text) ? Math.min(Number(text), 100_000) : undefined
}
