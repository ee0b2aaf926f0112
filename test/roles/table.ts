// The two files that show what each role may do: migrations/grants.txt, complete, with which
// `op roles check` compares a live database; and docs/database-roles.md, to read.
import { readGrants } from '../../src/platform/db/role-grants.ts'
import { databaseRoles } from '../../src/platform/db/roles.ts'
import type { TestDatabase } from '../support/harness.ts'
import { tryEverything } from './tries.ts'

const TRIED = /^\S+ (?:select|insert|update|delete|truncate|owns|execute) (?!schema )/

const HEAD = `# What each database role may do, and nothing else. Made by: npm run roles-table
# A line is: role, right, object, and the columns if it is not all of them. Dated partitions have
# one name. migrations/roles.sql grants it; op roles check compares a live database with it.
`

/** What was tried, and what only the catalogs show: sequences and schemas. */
export async function grantsText({ url, db }: TestDatabase): Promise<string> {
  const read = await readGrants(db)
  const others = read.filter((line) => !TRIED.test(line) || isUntried(line))
  const lines = [...(await tryEverything(url)), ...others]
  return `${HEAD}${[...new Set(lines)].sort().join('\n')}\n`
}

/** The tries leave the dated partitions out: whether they exist depends on the day. */
function isUntried(line: string): boolean {
  return line.includes('_<day>') || line.includes('_<week>') || /_seq$|_serial$/.test(line)
}

const PAGE = `# What each database role may do

For operators and security reviewers: the rights of each role on each table, and the functions
that it may call. \`npm run roles-table\` writes this page by connecting as each role and trying
everything, and a test compares it. [Decision 0045](decisions/0045-database-roles.md) says why;
\`op roles check\` compares your database with it.

The owner, the role that runs \`migrate\`, may do everything, and nothing else runs as it. Letters:
**r** reads, **i** inserts, **u** updates, **d** deletes, **t** truncates; in brackets: some columns
only, which [migrations/roles.sql](../migrations/roles.sql) names. **owner** may do all of it.
`

const LETTERS = { select: 'r', insert: 'i', update: 'u', delete: 'd', truncate: 't' } as const

export function rolesPage(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const parsed = lines.map((line) => {
    const [role = '', right = '', name = '', ...columns] = line.split(' ')
    return { role, right, name, isSome: columns.length > 0 }
  })
  const ofTables = parsed.filter(({ right }) => right in LETTERS || right === 'owns')
  const tables = ofTables.filter(({ name }) => !/_seq$|_serial$/.test(name))
  const names = [...new Set(tables.map(({ name }) => name))].sort()
  const cell = (role: string, name: string) => {
    const mine = tables.filter((one) => one.role === role && one.name === name)
    if (mine.some(({ right }) => right === 'owns')) return 'owner'
    return Object.entries(LETTERS)
      .flatMap(([right, letter]) => {
        const one = mine.find((grant) => grant.right === right)
        return one === undefined ? [] : [one.isSome ? `(${letter})` : letter]
      })
      .join('')
  }
  const short = databaseRoles.map((role) => role.replace('tollgate_', ''))
  const table = [
    `| table | ${short.join(' | ')} |`,
    `|---|${short.map(() => '---').join('|')}|`,
    ...names.map(
      (name) => `| \`${name}\` | ${databaseRoles.map((role) => cell(role, name)).join(' | ')} |`,
    ),
  ]
  const functions = databaseRoles.flatMap((role, i) => {
    const called = parsed.filter((one) => one.role === role && one.right === 'execute')
    const own = called.filter(({ name }) => !name.startsWith('graphile_worker.'))
    const rest = called.length > own.length ? ' and the functions of graphile-worker' : ''
    const list = own.map(({ name }) => `\`${name}\``).join(', ')
    return [`### ${short[i]}`, '', wrap(`${list}${rest}.`), '']
  })
  return (
    [PAGE, '## Tables', '', ...table, '', '## Functions', '', ...functions].join('\n').trimEnd() +
    '\n'
  )
}

/** Lines of at most 100 columns. */
function wrap(text: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (`${line} ${word}`.length > 100) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}
