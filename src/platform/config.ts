// Reads the configuration: one YAML file, overridden by environment variables. The only file that
// reads process.env. It collects all problems before it gives up, and returns a frozen object whose
// secrets print as dots. settings.ts defines the settings.
import { readFileSync, type Stats, statSync } from 'node:fs'
import { randomText } from './ids.ts'
import { Masked } from './masked.ts'
import { errorsBetween } from './nearest.ts'
import { foreignSecretProblem, isHarmless, isReadBy, type Program } from './programs.ts'
import { describeVersions, secretVersionsOf } from './secret-versions.ts'
import {
  listSettings,
  type Setting,
  type SettingValues,
  settingsSchema,
  valueAt,
} from './settings.ts'
import { type KeyPath, nearestName, readYaml, schemaProblems } from './yaml.ts'

export type Config = {
  readonly [Area in keyof SettingValues]: SettingValues[Area] extends object
    ? Readonly<SettingValues[Area]>
    : SettingValues[Area]
}

/** `not read`: a secret of other programs. */
export type Source = 'default' | 'file' | 'environment' | 'secret file' | 'not read'
type Origin = { readonly source: Source; readonly where: string }

export type Loaded = {
  readonly config: Config
  /** By setting name, such as `gateway.port`. */
  readonly origins: ReadonlyMap<string, Origin>
}

type Environment = Readonly<Record<string, string | undefined>>
type Tree = Record<string, unknown>
const FILE_ENV = 'TOLLGATE_CONFIG'
/** The rights of users who are neither the owner of a file nor in its group. */
const OTHERS = 0o007

/**
 * Reads the configuration of a program, or of all when it is undefined. `file` is the path given
 * with --config; without it TOLLGATE_CONFIG names one; without both, only the defaults apply. A
 * file that is named but missing is a problem: a mistyped path must not start production with
 * development defaults.
 */
export function loadConfig({
  file,
  env = process.env,
  program,
}: {
  readonly file?: string | undefined
  readonly env?: Environment
  readonly program?: Program | undefined
} = {}): Loaded | { readonly problems: readonly string[] } {
  const settings = listSettings()
  const problems: string[] = []
  const { tree, lineAt } = readFileTree(file ?? present(env[FILE_ENV]), problems)
  const origins = new Map<string, Origin>()
  const foreign: string[] = []
  for (const setting of settings) {
    if (!isReadBy(program, setting)) {
      const inFile = { value: valueAt(tree, setting.path), where: lineAt(setting.path) }
      const where = placesOf(setting, env, inFile)
      if (where.length > 0) foreign.push(foreignSecretProblem(setting.name, where.join(', ')))
      withhold(setting, tree)
      origins.set(setting.name, { source: 'not read', where: '' })
      continue
    }
    const found = fromEnvironment(setting, env, problems)
    if (found !== undefined) {
      place(tree, setting.path, found.value)
      origins.set(setting.name, { source: found.source, where: found.where })
    } else if (valueAt(tree, setting.path) !== undefined) {
      origins.set(setting.name, { source: 'file', where: lineAt(setting.path) })
    } else {
      origins.set(setting.name, { source: 'default', where: '' })
    }
  }
  problems.push(...misspelt(settings, env))
  if (program === 'serve' && isStrict(tree)) problems.push(...foreign)

  const checked = check(tree, program)
  for (const { path, sentence } of checked.problems) {
    const name = path.join('.')
    const where = origins.get(name)?.where ?? lineAt(path)
    problems.push(`${name === '' ? 'the file' : name}${where && ` (${where})`}: ${sentence}`)
  }
  if (checked.config === undefined || problems.length > 0) return { problems }
  return { config: checked.config, origins }
}

function present(value: string | undefined): string | undefined {
  // Compose files and CI pass `NAME=` for unset variables, so an empty value counts as absent.
  return value === '' ? undefined : value
}

function readFileTree(file: string | undefined, problems: string[]) {
  const nothing = { tree: emptyAreas(), lineAt: () => '' }
  if (file === undefined) return nothing
  const text = readText(file, problems)
  if (text === undefined) return nothing
  const yaml = readYaml(text)
  problems.push(...yaml.problems.map(({ line, sentence }) => `${file} line ${line}: ${sentence}`))
  const value = yaml.value ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    problems.push(`${file}: expected areas and their settings, such as "gateway:"`)
    return nothing
  }
  // An area whose lines are all commented out is null in YAML, and means no settings.
  const areas = Object.entries(value).filter(([, area]) => area !== null)
  return {
    tree: { ...emptyAreas(), ...Object.fromEntries(areas) } as Tree,
    lineAt: (path: KeyPath) => `${file} line ${yaml.lineAt(path)}`,
  }
}

function emptyAreas(): Tree {
  const areas = listSettings().filter(({ path }) => path.length === 2)
  return Object.fromEntries(areas.map(({ path }) => [path[0], {}]))
}

function readText(file: string, problems: string[], why = 'the configuration file') {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    // Every error code (missing, a directory, no permission) is for the operator to fix.
    problems.push(`${file}: ${why} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
    return undefined
  }
}

function fromEnvironment(setting: Setting, env: Environment, problems: string[]) {
  const name = [setting.env, ...(setting.aliases ?? [])].find((each) => present(env[each]))
  const secretName = `${setting.env}_FILE`
  const secretFile = setting.isSecret ? present(env[secretName]) : undefined
  if (secretFile === undefined) {
    if (name === undefined) return undefined
    return { value: typed(setting, env[name] ?? ''), source: 'environment', where: name } as const
  }
  if (name !== undefined) {
    problems.push(`${setting.name}: both ${name} and ${secretName} are set; keep one`)
  }
  const text = readText(secretFile, problems, `named by ${secretName}, it`)?.trim()
  if (text === undefined) return undefined
  const found = statSync(secretFile)
  if (found.isFile() && (found.mode & OTHERS) !== 0) {
    const octal = (found.mode & 0o777).toString(8)
    problems.push(
      `${secretFile}: named by ${secretName}, it has mode ${octal}, so every user of this ` +
        `machine has access to it: chmod 640 ${secretFile}`,
    )
  }
  return { value: text, source: 'secret file', where: `${secretName} ${secretFile}` } as const
}

/** Where a secret was given. The content of a secret file is not looked at. */
function placesOf(
  { env: name, fallback }: Setting,
  env: Environment,
  inFile: { readonly value: unknown; readonly where: string },
): string[] {
  // Copies of tollgate.example.yaml have the default of every secret.
  const isGiven = (value: unknown) =>
    typeof value === 'string' && value !== fallback && !isHarmless(value)
  return [
    ...(isGiven(present(env[name])) ? [name] : []),
    ...(present(env[`${name}_FILE`]) === undefined ? [] : [`${name}_FILE`]),
    ...(isGiven(inFile.value) ? [inFile.where] : []),
  ]
}

/** From this length on a secret is the key of digests or signatures. */
const KEY_BYTES = 32

/**
 * Puts the default in the place of a secret that the program does not read; random bytes in that of
 * a key, whose default everybody knows.
 */
function withhold({ path, bytesMin = 0 }: Setting, tree: Tree): void {
  const isKey = bytesMin >= KEY_BYTES
  place(tree, path, isKey ? randomText(KEY_BYTES) : undefined)
}

/** Before the check of the settings, so that all problems are reported at once. */
function isStrict(tree: Tree): boolean {
  const isProduction = valueAt(tree, ['mode']) === 'production'
  return isProduction && valueAt(tree, ['allow', 'sharedSecrets']) !== true
}

/**
 * Converts the text to the type that the schema expects; a text that does not fit stays a text, and
 * the schema reports it.
 */
function typed(setting: Setting, text: string): unknown {
  if (setting.kind === 'whole') return /^-?\d{1,15}$/.test(text) ? Number(text) : text
  if (setting.kind === 'flag') return { true: true, false: false }[text] ?? text
  return text
}

function place(tree: Tree, path: KeyPath, value: unknown) {
  const [area, thing] = path.map(String)
  if (area === undefined) return
  const inside = tree[area]
  if (thing === undefined) tree[area] = value
  else if (typeof inside === 'object') tree[area] = { ...inside, [thing]: value }
}

/**
 * The environment has variables of other programs too, so an unknown name is a problem only if it
 * begins with one of our areas and is within two edits of a setting: a typing error.
 */
function misspelt(settings: readonly Setting[], env: Environment): string[] {
  const known = settings.flatMap(({ env: name, isSecret }) =>
    isSecret ? [name, `${name}_FILE`] : [name],
  )
  const areas = new Set(known.map((name) => name.slice(0, name.indexOf('_') + 1)))
  return Object.keys(env).flatMap((name) => {
    if (known.includes(name) || name === FILE_ENV || env[name] === '') return []
    if (![...areas].some((area) => name.startsWith(area))) return []
    const nearest = nearestName(name, known) ?? ''
    return errorsBetween(name, nearest) > 2
      ? []
      : [`${name} in the environment: no such setting; the nearest known one is ${nearest}`]
  })
}

/**
 * Two passes, because zod skips the rules between settings while any single setting is wrong. The
 * second pass leaves the wrong ones out, so that all problems are reported at once.
 */
function check(tree: Tree, program: Program | undefined) {
  const schema = settingsSchema(program)
  const first = schema.safeParse(tree)
  if (first.success) return { config: frozen(first.data), problems: [] }
  const problems = schemaProblems(first.error, schema)
  const repaired = structuredClone(tree)
  for (const { path } of problems) {
    const [area, thing] = path.map(String)
    if (area === undefined) continue
    const inside = repaired[area]
    if (thing === undefined) repaired[area] = emptyAreas()[area]
    else if (typeof inside === 'object') Reflect.deleteProperty(inside as Tree, thing)
    if (repaired[area] === undefined) Reflect.deleteProperty(repaired, area)
  }
  const second = schema.safeParse(repaired)
  const reported = new Set(problems.map(({ path }) => path.join('.')))
  const more = second.success ? [] : schemaProblems(second.error, schema)
  return {
    config: undefined,
    problems: [...problems, ...more.filter(({ path }) => !reported.has(path.join('.')))],
  }
}

function frozen(config: SettingValues): Config {
  for (const area of Object.values(config)) Object.freeze(area)
  return Object.freeze(config)
}

/** Every setting with its value and where it came from; secrets as dots. */
export function describeConfig({ config, origins }: Loaded): string {
  const rows = listSettings().map(({ name, path, env }) => {
    const { source, where } = origins.get(name) ?? { source: 'default', where: '' }
    return [name, String(valueAt(config, path)), `${source} (${where === '' ? env : where})`]
  })
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const [names, values] = [width(0), width(1)]
  const lines = rows.map(
    ([name = '', value = '', from]) => `${name.padEnd(names)}  ${value.padEnd(values)}  ${from}`,
  )
  const oneRole = config.database.roles === 'one' ? [ONE_ROLE] : []
  return [...lines, ...successionsOf(config), ...oneRole].join('\n')
}

/** A line for each secret that has a successor now. */
function successionsOf(config: Config): string[] {
  return listSettings().flatMap(({ name, path, hasVersions }) => {
    if (!hasVersions) return []
    const text = describeVersions(secretVersionsOf(valueAt(config, path) as Masked<string>))
    return text === undefined ? [] : [`${name} is in succession: ${text}`]
  })
}

/** The names of the settings that differ, secrets included, except those of other programs. */
export function changedSettings(before: Config, { config: after, origins }: Loaded): string[] {
  const plain = (value: unknown) => (value instanceof Masked ? value.reveal() : value)
  return listSettings()
    .filter(({ name }) => origins.get(name)?.source !== 'not read')
    .filter(({ path }) => plain(valueAt(before, path)) !== plain(valueAt(after, path)))
    .map(({ name }) => name)
}

const ONE_ROLE =
  'database.roles is one: all programs share one database role, and each of them can do what any ' +
  'of them can'

/** systemd passes descriptors from this number on. */
const PASSED_FD = 3

/** The listening socket that systemd opened for this process; undefined if it opened none. */
export function passedSocket(
  env: Environment = process.env,
  pid: number = process.pid,
): number | undefined {
  // Children inherit the variables, but the socket is not theirs.
  return env.LISTEN_PID === String(pid) && Number(env.LISTEN_FDS) > 0 ? PASSED_FD : undefined
}

/** Keys and tokens have up to some kilobytes; a file with more is not the right one. */
export const SECRET_BYTES_MAX = 65_536

/**
 * Why a file cannot hold a secret that is read again and again. Opening a pipe would wait for a
 * writer, and a device has no end.
 */
export function secretFileProblem(file: Stats): string | undefined {
  if (!file.isFile()) return 'it is not a regular file'
  return file.size > SECRET_BYTES_MAX ? `it has more than ${SECRET_BYTES_MAX} bytes` : undefined
}

/** The secret behind a reference in a file: `env:NAME` or `file:/path`; undefined when absent. */
export function secretOf(
  reference: string,
  env: Environment = process.env,
): Masked<string> | undefined {
  const [kind, ...rest] = reference.split(':')
  const name = rest.join(':')
  if (kind === 'env') {
    const value = present(env[name])
    return value === undefined ? undefined : new Masked(value)
  }
  try {
    if (secretFileProblem(statSync(name)) !== undefined) return undefined
    const value = readFileSync(name, 'utf8').trim()
    return value === '' ? undefined : new Masked(value)
  } catch {
    return undefined // the caller reports the reference
  }
}
