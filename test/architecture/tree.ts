// The repository as the architecture test reads it: the source files with their imports, and the
// paths of all tracked files. Source files are read once; a rule gets other files with `read`. The
// rules themselves are in other files of this folder.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { type Literal, lineAt, scan } from './scan.ts'

export type Finding = { file: string; line: number; fix: string }
export type Rule = {
  name: string
  /** What holds while the rule reports nothing; the name of its test. */
  promise: string
  check(repository: Repository): Finding[]
}

/** `worker`: named by `new URL('./x.ts', import.meta.url)`, a file that runs in its own thread. */
export type Import = {
  specifier: string
  kind: 'value' | 'type' | 'worker'
  line: number
  /** The imported file of this repository; undefined for a package or a missing file. */
  target: SourceFile | undefined
}

export type SourceFile = {
  path: string
  /** The top folder: src, test, tools, bench, stand-ins or web. */
  folder: string
  /** In src: the module; for a file of src itself its name without `.ts`. */
  module: string
  isTest: boolean
  text: string
  code: string
  bare: string
  comments: string
  literals: Literal[]
  imports: Import[]
}

export type Repository = {
  root: string
  files: SourceFile[]
  /** Everything git would track (or, without git, everything there), as paths. */
  tracked: string[]
  /** The text of a file by its path, or undefined. */
  read(path: string): string | undefined
  moduleTable: Readonly<Record<string, readonly string[]>>
}

const FOLDERS = ['src', 'test', 'tools', 'bench', 'stand-ins', 'web']
const SKIPPED = new Set(['node_modules', '.git', '.tollgate', 'dist', 'screens'])

export function readRepository(root: string, moduleTable: Repository['moduleTable']): Repository {
  const paths = FOLDERS.flatMap((folder) => walk(root, folder)).filter((path) =>
    /(?<!\.d)\.tsx?$/.test(path),
  )
  const files = paths.map((path) => readSource(root, path))
  const byPath = new Map(files.map((file) => [file.path, file]))
  for (const file of files) file.imports = importsOf(file, byPath)
  const read = (path: string) =>
    statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true
      ? readFileSync(join(root, path), 'utf8')
      : undefined
  return { root, files, tracked: trackedPaths(root), read, moduleTable }
}

/** Runs git in the repository; undefined when git or its history is not there. */
export function git(root: string, ...parameters: string[]): string | undefined {
  // A tree without its own .git must not be judged by the history of a folder above it.
  if (!existsSync(join(root, '.git'))) return undefined
  try {
    // Continuous integration often checks out as one user and runs as another.
    const safe = ['-c', `safe.directory=${root}`]
    return execFileSync('git', [...safe, ...parameters], {
      cwd: root,
      env: withoutGit(process.env),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 16 * 1024 * 1024,
    })
  } catch {
    return undefined
  }
}

/** The environment without git's own variables: inside a hook they name another repository. */
export function withoutGit(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')))
}

/** Every match of a pattern in one view of a file, as line numbers with the match. */
export function matches(text: string, pattern: RegExp): { line: number; match: RegExpExecArray }[] {
  return [...text.matchAll(pattern)].map((match) => ({ line: lineAt(text, match.index), match }))
}

function readSource(root: string, path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8')
  const [folder = '', next = ''] = path.split('/')
  return {
    path,
    folder,
    module: folder === 'src' ? next.replace(/\.ts$/, '') : '',
    isTest: /\.test\.tsx?$/.test(path),
    text,
    ...scan(text),
    imports: [],
  }
}

const IMPORT_FORMS: { pattern: RegExp; kind?: Import['kind'] }[] = [
  { pattern: /^import\s+(?<type>type\s+)?[\w$*{}\s,]+?\sfrom\s*['"](?<from>[^'"]+)['"]/gm },
  {
    pattern:
      /^export\s+(?<type>type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s*['"](?<from>[^'"]+)/gm,
  },
  { pattern: /^import\s*['"](?<from>[^'"]+)['"]/gm },
  { pattern: /(?<type>typeof\s+)?\bimport\(\s*['"](?<from>[^'"]+)['"]/g },
  {
    pattern: /\bnew URL\(\s*['"](?<from>\.[^'"]+\.tsx?)['"],\s*import\.meta\.url/g,
    kind: 'worker',
  },
]

function importsOf(file: SourceFile, byPath: Map<string, SourceFile>): Import[] {
  const found: Import[] = []
  for (const { pattern, kind } of IMPORT_FORMS) {
    for (const { line, match } of matches(file.bare, pattern)) {
      // This import stands in a string, such as a test's sample of source text.
      if (file.code.charAt(match.index) === ' ') continue
      const specifier = match.groups?.from ?? ''
      const path = posix.join(dirname(file.path), specifier)
      found.push({
        specifier,
        kind: kind ?? (match.groups?.type === undefined ? 'value' : 'type'),
        line,
        target: specifier.startsWith('.') ? byPath.get(path) : undefined,
      })
    }
  }
  return found
}

function walk(root: string, folder: string): string[] {
  const start = join(root, folder)
  if (!existsSync(start) || !statSync(start).isDirectory()) return []
  return readdirSync(start, { withFileTypes: true })
    .filter((entry) => !SKIPPED.has(entry.name))
    .flatMap((entry) => {
      const path = relative(root, join(start, entry.name)).split(sep).join('/')
      return entry.isDirectory() ? walk(root, path) : entry.isFile() ? [path] : []
    })
    .sort()
}

function trackedPaths(root: string): string[] {
  const listed = git(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard')
  if (listed === undefined) return walk(root, '.')
  return listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)))
}
