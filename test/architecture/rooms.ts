// Who may enter whom. One table says it all; what the table does not list is forbidden. An import
// that breaks several rules is reported once, by the rule that says most about it.
import { lineAt } from './scan.ts'
import type { Finding, House, Import, Rule, SourceFile } from './tree.ts'
import { matches } from './tree.ts'

/** Files of src itself, above all rooms: they build the rooms and may enter every one of them. */
export const TOP = ['main', 'wiring', 'jobs', 'fleet']
const OUTER = ['gateway', 'cabinet', 'operator']
/** Rooms without a door, because every file of theirs is one. */
const ALL_DOOR = ['platform', 'units', 'wire']

/** The types that the browser shares with the server. */
const CONTRACT = /^src\/cabinet\/contract\/[a-z]+\.ts$/

const everyday = ['platform', 'units', 'keys', 'ledger', 'pricing']

export const roomTable: Readonly<Record<string, readonly string[]>> = {
  units: [],
  platform: [],
  http: [],
  wire: ['units'],
  // Applied versions of the catalogue live in a table, so pricing reaches the database.
  pricing: ['units', 'platform'],
  ledger: ['platform', 'units'],
  // A key is tied to a book, and its reissue raises the book's fence.
  keys: ['platform', 'units', 'ledger'],
  accounts: ['platform'],
  upstreams: ['platform', 'wire'],
  payments: ['platform', 'units', 'ledger'],
  guards: ['platform', 'units', 'ledger'],
  gateway: [...everyday, 'http', 'wire', 'upstreams'],
  cabinet: [...everyday, 'accounts', 'payments', 'guards'],
  operator: [...everyday, 'accounts', 'payments', 'upstreams'],
}

/** Which room's queries may name a table. A new table adds its line here. */
export const tableOwners: Readonly<Record<string, string>> = {
  books: 'ledger',
  holds: 'ledger',
  entries: 'ledger',
  stops_beneath: 'ledger',
  postings: 'ledger',
  lots: 'ledger',
  tariffs: 'ledger',
  instances: 'ledger',
  checkpoints: 'ledger',
  audit_marks: 'ledger',
  cell: 'ledger',
  checkpoint_sums: 'ledger',
  usage_marks: 'ledger',
  usage_sums: 'ledger',
  usage_spans: 'ledger',
  usage_rounds: 'ledger',
  keys: 'keys',
  catalogue_versions: 'pricing',
  upstream_settings: 'upstreams',
  upstream_views: 'upstreams',
  accounts: 'accounts',
  registrations: 'accounts',
  sessions: 'accounts',
  credentials: 'accounts',
  account_codes: 'accounts',
  second_factors: 'accounts',
  passkeys: 'accounts',
  account_devices: 'accounts',
  account_consents: 'accounts',
  account_throttles: 'accounts',
  letters: 'platform',
  orders: 'payments',
  payment_reviews: 'payments',
  refunds: 'payments',
  disputes: 'payments',
  payment_notices: 'payments',
  payment_sweeps: 'payments',
  promo_codes: 'payments',
  promo_redemptions: 'payments',
  promo_attempts: 'payments',
  saved_methods: 'payments',
  top_up_consents: 'payments',
  top_ups: 'payments',
  guards: 'guards',
  operator_acts: 'operator',
}

type Verdict = { rule: string; cure: string } | undefined

const EDGE_RULES: Record<string, string> = {
  'stand-in-imported': 'src and web reach stand-ins over HTTP only',
  outward: 'src and web import nothing of web, test, tools or bench',
  'web-contract': 'the browser takes from src only the types of the cabinet contract',
  'foreign-queries': "no room imports another room's queries",
  'paid-path': 'the gateway cannot move money in: it knows neither payments nor accounts',
  'outer-door': 'no room knows the outer doors, and they do not know each other',
  'room-table': 'a room enters only the rooms its line of the table names',
  door: 'a room is entered only by its door',
  'step-imports-step': 'a numbered step never imports a numbered step',
}

export const roomRules: Rule[] = [
  ...Object.entries(EDGE_RULES).map(([name, promise]) => ({
    name,
    promise,
    check: (house: House) => edgeFindings(house, name),
  })),
  {
    name: 'room-unknown',
    promise: 'every folder of src is a room of the table',
    check: unknownRooms,
  },
  {
    name: 'foreign-table',
    promise: "no room names another room's tables in SQL",
    check: foreignTables,
  },
  {
    name: 'table-unowned',
    promise: 'every table has a room that owns it',
    check: unownedTables,
  },
]

/** What is wrong with one import, or undefined. */
export function judge(house: House, from: SourceFile, edge: Import): Verdict {
  const { target } = edge
  if (target === undefined) return undefined
  if (from.folder === 'web') return judgeWeb(target, edge)
  if (from.folder !== 'src') return undefined
  if (target.folder !== 'src') return from.isTest ? undefined : judgeOutward(target)
  return judgeRooms(house, from, target)
}

function judgeOutward(target: SourceFile): Verdict {
  return target.folder === 'stand-ins'
    ? { rule: 'stand-in-imported', cure: `reach ${target.path} over HTTP, by a configured address` }
    : {
        rule: 'outward',
        cure: `${target.path} is not part of the server; move what is shared to src`,
      }
}

function judgeWeb(target: SourceFile, edge: Import): Verdict {
  if (target.folder === 'web') return undefined
  if (target.folder !== 'src') return judgeOutward(target)
  if (CONTRACT.test(target.path) && edge.kind === 'type') return undefined
  return { rule: 'web-contract', cure: 'use `import type` from src/cabinet/contract/, or HTTP' }
}

function judgeRooms(house: House, from: SourceFile, target: SourceFile): Verdict {
  if (from.room === target.room) return judgeSteps(from, target)
  if (target.path.endsWith('/queries.ts')) {
    return { rule: 'foreign-queries', cure: `ask the door of ${target.room} for it` }
  }
  if (TOP.includes(from.room)) return judgeDoor(target)
  if (from.room === 'gateway' && ['payments', 'accounts'].includes(target.room)) {
    return { rule: 'paid-path', cure: 'the paid path cannot move money in; do it in the cabinet' }
  }
  if (OUTER.includes(target.room)) {
    return {
      rule: 'outer-door',
      cure: `hand ${from.room} what it needs from ${target.room} in wiring`,
    }
  }
  const allowed = house.roomTable[from.room] ?? []
  const isGround = from.isTest && ['platform', 'units'].includes(target.room)
  if (!allowed.includes(target.room) && !isGround) {
    const may = allowed.length === 0 ? 'no other room' : allowed.join(', ')
    return { rule: 'room-table', cure: `${from.room} may enter ${may}; not ${target.room}` }
  }
  return judgeDoor(target)
}

function judgeDoor(target: SourceFile): Verdict {
  const door = `src/${target.room}/${target.room}.ts`
  const isDoor = target.path === door || TOP.includes(target.room) || ALL_DOOR.includes(target.room)
  return isDoor ? undefined : { rule: 'door', cure: `enter ${target.room} by ${door}` }
}

function judgeSteps(from: SourceFile, target: SourceFile): Verdict {
  const isStep = (file: SourceFile) => /^src\/gateway\/\d+-[^/]*$/.test(file.path)
  if (from.isTest || !isStep(from) || !isStep(target)) return undefined
  return { rule: 'step-imports-step', cure: 'let messages.ts hand the value from step to step' }
}

function edgeFindings(house: House, rule: string): Finding[] {
  return house.files.flatMap((file) =>
    file.imports.flatMap((edge) => {
      const verdict = judge(house, file, edge)
      return verdict?.rule === rule
        ? [{ file: file.path, line: edge.line, cure: verdict.cure }]
        : []
    }),
  )
}

function unknownRooms(house: House): Finding[] {
  const known = new Set([...TOP, ...Object.keys(house.roomTable)])
  return house.files
    .filter((file) => file.folder === 'src' && !known.has(file.room.replace(/\.test$/, '')))
    .map((file) => ({
      file: file.path,
      line: 1,
      cure: `${file.room} has no line in the table of test/architecture/rooms.ts`,
    }))
}

// Prose may say "from lots of places": only a literal that opens like a statement counts as SQL.
const SQL_VERBS = 'select|insert|update|delete|with|merge|lock|truncate|copy'
const STATEMENT = new RegExp(`^(?:\\s|--.*\\n|\\()*(?:${SQL_VERBS})\\b`, 'i')
const NAMED_TABLE = /\b(?:from|join|into|update|only|table|using)\s+(?:only\s+)?"?([a-z_]+)"?/gi

function foreignTables(house: House): Finding[] {
  const product = house.files.filter((file) => file.folder === 'src' && !file.isTest)
  return product.flatMap((file) =>
    file.literals
      .filter((literal) => STATEMENT.test(literal.text))
      .flatMap((literal) =>
        [...literal.text.replace(/--.*/g, blank).matchAll(NAMED_TABLE)].flatMap((match) => {
          const table = (match[1] ?? '').toLowerCase()
          const owner = Object.hasOwn(tableOwners, table) ? tableOwners[table] : undefined
          if (owner === undefined || owner === file.room) return []
          const offset = literal.offset + match.index + match[0].length - 1
          const line = lineAt(file.text, offset)
          return [{ file: file.path, line, cure: `${table} belongs to ${owner}; ask its door` }]
        }),
      ),
  )
}

function blank(text: string): string {
  return ' '.repeat(text.length)
}

// A partition belongs to whoever owns its parent.
const NEW_TABLE =
  /^create\s+(?:unlogged\s+)?table\s+(?:if not exists\s+)?(\w+)(?!\w|\s+partition of)/gim

function unownedTables(house: House): Finding[] {
  const migrations = house.tracked.filter((path) => /^migrations\/\d{4}-.*\.sql$/.test(path))
  return migrations.flatMap((file) =>
    matches(house.read(file) ?? '', NEW_TABLE)
      .filter(({ match }) => !Object.hasOwn(tableOwners, (match[1] ?? '').toLowerCase()))
      .map(({ line, match }) => ({
        file,
        line,
        cure: `give ${match[1]} an owner in tableOwners of test/architecture/rooms.ts`,
      })),
  )
}
