// Which module may import which. One table lists the allowed imports; every other import is
// forbidden. An import that breaks several rules is reported once, by the most specific rule.
import { lineAt } from './scan.ts'
import type { Finding, Import, Repository, Rule, SourceFile } from './tree.ts'
import { matches } from './tree.ts'

/** Files of src itself: they build the modules and may import every one of them. */
export const TOP = [
  ...['main', 'start', 'serve-cabinet', 'serve-console', 'wiring', 'jobs', 'database'],
  ...['upstream-options', 'watch-modules', 'watch-secrets'],
]
const OUTER = ['gateway', 'cabinet', 'operator']
/** Modules without an entry file: other modules may import each of their files. */
const WITHOUT_ENTRY_FILE = ['platform', 'units', 'wire']

/** The types that the browser shares with the server. */
const CONTRACT = /^src\/(?:cabinet|operator\/console)\/contract\/[a-z]+\.ts$/

const everyday = ['platform', 'units', 'keys', 'ledger', 'pricing']

export const moduleTable: Readonly<Record<string, readonly string[]>> = {
  units: [],
  platform: [],
  http: [],
  // The parent passes connections to the HTTP servers of its processes.
  fleet: ['platform', 'http'],
  wire: ['units'],
  // Applied versions of the catalogue live in a table, so pricing reaches the database.
  pricing: ['units', 'platform'],
  ledger: ['platform', 'units'],
  // A key is tied to a book, and its reissue raises the book's fence.
  keys: ['platform', 'units', 'ledger'],
  accounts: ['platform'],
  acts: ['platform'],
  staff: ['platform', 'units'],
  upstreams: ['platform', 'wire'],
  // What our own probes see; wiring passes them what they ask of other modules.
  status: ['platform'],
  payments: ['platform', 'units', 'ledger'],
  guards: ['platform', 'units', 'ledger'],
  'vendor-bill': ['platform', 'units', 'ledger', 'pricing'],
  // Figures of a day and a month, from what these modules know.
  reports: ['platform', 'units', 'ledger', 'payments', 'pricing', 'upstreams', 'vendor-bill'],
  gateway: [...everyday, 'http', 'wire', 'upstreams'],
  summaries: ['platform', 'units', 'accounts', 'ledger', 'payments'],
  cabinet: [...everyday, 'accounts', 'payments', 'guards', 'status'],
  operator: [
    ...everyday,
    ...['accounts', 'acts', 'payments', 'reports', 'staff', 'status', 'upstreams', 'vendor-bill'],
  ],
}

/** The module whose queries may name a table. A migration that adds a table adds a line here. */
export const tableOwners: Readonly<Record<string, string>> = {
  books: 'ledger',
  holds: 'ledger',
  entries: 'ledger',
  stops_beneath: 'ledger',
  postings: 'ledger',
  lots: 'ledger',
  tariffs: 'ledger',
  instances: 'ledger',
  quarantine: 'ledger',
  backups: 'ledger',
  checkpoints: 'ledger',
  audit_marks: 'ledger',
  sweep_marks: 'ledger',
  cell: 'ledger',
  checkpoint_sums: 'ledger',
  usage_marks: 'ledger',
  usage_sums: 'ledger',
  usage_spans: 'ledger',
  usage_rounds: 'ledger',
  usage_split_marks: 'ledger',
  usage_split_sums: 'ledger',
  usage_split_spans: 'ledger',
  usage_sessions: 'ledger',
  refused_requests: 'ledger',
  days: 'ledger',
  entries_unverified: 'ledger',
  keys: 'keys',
  wrong_keys: 'keys',
  catalogue_versions: 'pricing',
  upstream_settings: 'upstreams',
  upstream_views: 'upstreams',
  upstream_credentials: 'upstreams',
  upstream_credential_problems: 'upstreams',
  busiest_accounts: 'upstreams',
  accounts: 'accounts',
  registrations: 'accounts',
  sessions: 'accounts',
  credentials: 'accounts',
  account_codes: 'accounts',
  second_factors: 'accounts',
  passkeys: 'accounts',
  account_devices: 'accounts',
  account_consents: 'accounts',
  account_closings: 'accounts',
  account_throttles: 'accounts',
  email_changes: 'accounts',
  account_recoveries: 'accounts',
  account_recovery_warnings: 'accounts',
  account_identity_checks: 'accounts',
  account_addresses: 'accounts',
  letters: 'platform',
  orders: 'payments',
  payment_reviews: 'payments',
  refunds: 'payments',
  disputes: 'payments',
  receipt_decisions: 'payments',
  receipts: 'payments',
  payment_notices: 'payments',
  payment_sweeps: 'payments',
  payment_findings: 'payments',
  payment_checks: 'payments',
  promo_codes: 'payments',
  promo_redemptions: 'payments',
  promo_purchases: 'payments',
  payment_payers: 'payments',
  promo_attempts: 'payments',
  trials: 'payments',
  trial_days: 'payments',
  trial_networks: 'payments',
  saved_methods: 'payments',
  mandates: 'payments',
  top_up_consents: 'payments',
  top_up_settings: 'payments',
  top_ups: 'payments',
  guards: 'guards',
  vendor_bills: 'vendor-bill',
  month_seals: 'reports',
  operator_acts: 'acts',
  act_chain: 'acts',
  act_copies: 'acts',
  operators: 'staff',
  operator_factors: 'staff',
  operator_passkeys: 'staff',
  operator_challenges: 'staff',
  operator_sessions: 'staff',
  operator_throttles: 'staff',
  operator_tokens: 'staff',
  operator_reads: 'staff',
  operator_day_sums: 'staff',
  operator_approvals: 'staff',
  status_components: 'status',
  status_samples: 'status',
  status_days: 'status',
  status_outages: 'status',
  status_incidents: 'status',
  status_incident_updates: 'status',
}

type Verdict = { rule: string; fix: string } | undefined

const EDGE_RULES: Record<string, string> = {
  'stand-in-imported': 'src and web reach stand-ins over HTTP only',
  outward: 'src and web import nothing of web, test, tools or bench',
  'web-contract': 'the browser takes from src only the types of the contracts',
  'foreign-queries': "no module imports another module's queries",
  'paid-path': 'the gateway cannot move money in: it imports neither payments nor accounts',
  'outer-module': 'no module imports gateway, cabinet or operator, nor do these import each other',
  'module-table': 'a module imports only the modules that its line of the table names',
  'entry-file': 'other modules import only the entry file of a module',
  'step-imports-step': 'a numbered step never imports a numbered step',
}

export const moduleRules: Rule[] = [
  ...Object.entries(EDGE_RULES).map(([name, promise]) => ({
    name,
    promise,
    check: (repository: Repository) => edgeFindings(repository, name),
  })),
  {
    name: 'module-unknown',
    promise: 'every folder of src has a line in the table of modules',
    check: unknownModules,
  },
  {
    name: 'foreign-table',
    promise: "no module names another module's tables in SQL",
    check: foreignTables,
  },
  {
    name: 'table-unowned',
    promise: 'every table has a module that owns it',
    check: unownedTables,
  },
]

/** What is wrong with one import, or undefined. */
export function judge(repository: Repository, from: SourceFile, edge: Import): Verdict {
  const { target } = edge
  if (target === undefined) return undefined
  if (from.folder === 'web') return judgeWeb(target, edge)
  if (from.folder !== 'src') return undefined
  if (target.folder !== 'src') return from.isTest ? undefined : judgeOutward(target)
  return judgeModules(repository, from, target)
}

function judgeOutward(target: SourceFile): Verdict {
  return target.folder === 'stand-ins'
    ? { rule: 'stand-in-imported', fix: `call ${target.path} over HTTP, at a configured address` }
    : {
        rule: 'outward',
        fix: `${target.path} is not part of the server; move what is shared to src`,
      }
}

function judgeWeb(target: SourceFile, edge: Import): Verdict {
  if (target.folder === 'web') return undefined
  if (target.folder !== 'src') return judgeOutward(target)
  if (CONTRACT.test(target.path) && edge.kind === 'type') return undefined
  return { rule: 'web-contract', fix: 'use `import type` from a contract/ folder, or HTTP' }
}

function judgeModules(repository: Repository, from: SourceFile, target: SourceFile): Verdict {
  if (from.module === target.module) return judgeSteps(from, target)
  if (target.path.endsWith('/queries.ts')) {
    return { rule: 'foreign-queries', fix: `call the entry file of ${target.module} instead` }
  }
  if (TOP.includes(from.module)) return judgeEntryFile(target)
  if (from.module === 'gateway' && ['payments', 'accounts'].includes(target.module)) {
    return { rule: 'paid-path', fix: 'the gateway cannot move money in; do it in the cabinet' }
  }
  if (OUTER.includes(target.module)) {
    return {
      rule: 'outer-module',
      fix: `let wiring pass ${from.module} what it needs from ${target.module}`,
    }
  }
  const allowed = repository.moduleTable[from.module] ?? []
  const isGround = from.isTest && ['platform', 'units'].includes(target.module)
  if (!allowed.includes(target.module) && !isGround) {
    const may = allowed.length === 0 ? 'no other module' : allowed.join(', ')
    return { rule: 'module-table', fix: `${from.module} may import ${may}; not ${target.module}` }
  }
  return judgeEntryFile(target)
}

function judgeEntryFile(target: SourceFile): Verdict {
  const entryFile = `src/${target.module}/${target.module}.ts`
  const isEntryFile =
    target.path === entryFile ||
    TOP.includes(target.module) ||
    WITHOUT_ENTRY_FILE.includes(target.module)
  return isEntryFile ? undefined : { rule: 'entry-file', fix: `import ${entryFile} instead` }
}

function judgeSteps(from: SourceFile, target: SourceFile): Verdict {
  const isStep = (file: SourceFile) => /^src\/gateway\/\d+-[^/]*$/.test(file.path)
  if (from.isTest || !isStep(from) || !isStep(target)) return undefined
  return { rule: 'step-imports-step', fix: 'let messages.ts pass the value from step to step' }
}

function edgeFindings(repository: Repository, rule: string): Finding[] {
  return repository.files.flatMap((file) =>
    file.imports.flatMap((edge) => {
      const verdict = judge(repository, file, edge)
      return verdict?.rule === rule ? [{ file: file.path, line: edge.line, fix: verdict.fix }] : []
    }),
  )
}

function unknownModules(repository: Repository): Finding[] {
  const known = new Set([...TOP, ...Object.keys(repository.moduleTable)])
  return repository.files
    .filter((file) => file.folder === 'src' && !known.has(file.module.replace(/\.test$/, '')))
    .map((file) => ({
      file: file.path,
      line: 1,
      fix: `${file.module} has no line in the table of test/architecture/modules.ts`,
    }))
}

// Prose may contain "from lots of places": only a literal that begins like a statement is SQL.
const SQL_VERBS = 'select|insert|update|delete|with|merge|lock|truncate|copy'
const STATEMENT = new RegExp(`^(?:\\s|--.*\\n|\\()*(?:${SQL_VERBS})\\b`, 'i')
const NAMED_TABLE = /\b(?:from|join|into|update|only|table|using)\s+(?:only\s+)?"?([a-z_]+)"?/gi

function foreignTables(repository: Repository): Finding[] {
  const product = repository.files.filter((file) => file.folder === 'src' && !file.isTest)
  return product.flatMap((file) =>
    file.literals
      .filter((literal) => STATEMENT.test(literal.text))
      .flatMap((literal) =>
        [...literal.text.replace(/--.*/g, blank).matchAll(NAMED_TABLE)].flatMap((match) => {
          const table = (match[1] ?? '').toLowerCase()
          const owner = Object.hasOwn(tableOwners, table) ? tableOwners[table] : undefined
          if (owner === undefined || owner === file.module) return []
          const offset = literal.offset + match.index + match[0].length - 1
          const line = lineAt(file.text, offset)
          return [
            { file: file.path, line, fix: `${table} belongs to ${owner}; call its entry file` },
          ]
        }),
      ),
  )
}

function blank(text: string): string {
  return ' '.repeat(text.length)
}

// The owner of a table owns its partitions too.
const NEW_TABLE =
  /^create\s+(?:unlogged\s+)?table\s+(?:if not exists\s+)?(\w+)(?!\w|\s+partition of)/gim

function unownedTables(repository: Repository): Finding[] {
  const migrations = repository.tracked.filter((path) => /^migrations\/\d{4}-.*\.sql$/.test(path))
  return migrations.flatMap((file) =>
    matches(repository.read(file) ?? '', NEW_TABLE)
      .filter(({ match }) => !Object.hasOwn(tableOwners, (match[1] ?? '').toLowerCase()))
      .map(({ line, match }) => ({
        file,
        line,
        fix: `give ${match[1]} an owner in tableOwners of test/architecture/modules.ts`,
      })),
  )
}
