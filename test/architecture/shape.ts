// Rules about a single file: exports, name, no side effects on import, length; functions.ts
// measures its functions. The patterns rely on Biome's formatting: a statement of the module itself
// begins in the first column, and nothing else does.
import { importedPaths, workerPaths } from './graph.ts'
import type { Finding, Repository, Rule, SourceFile } from './tree.ts'
import { matches } from './tree.ts'

const FILE_LINES_MAX = 400
const LINE_COLUMNS_MAX = 100

const EMPTY_SUFFIX = new RegExp(
  [
    /^export\s+(?:(?:async|abstract|declare)\s+)*(?:function\*?|const|class|type|interface)\s+/,
    /\w*(?:Service|Manager|Helpers?|Utils?|Impl)\b/,
  ]
    .map(({ source }) => source)
    .join(''),
  'gm',
)
const I_PREFIX = /^(?:export\s+)?interface\s+I[A-Z]/gm

export const shapeRules: Rule[] = [
  rule('default-export', 'nothing is exported by default', (file) =>
    /\.config\.ts$/.test(file.path)
      ? []
      : found(file, /^export default\b|\bas default\b/gm, 'export it by its name'),
  ),
  rule('barrel', 'no file re-exports what another file exports', (file) =>
    matches(file.code, /^export\s+(type\s+)?(?:\*|\{[^}]*\}\s*from\b)/gm)
      .filter(({ match }) => match[1] === undefined || !isEntryFile(file))
      .map(({ line }) => at(file, line, 'import from the file that declares it')),
  ),
  rule('vague-name', 'no file or folder has a vague name', (file) => {
    const vague = /(?:^|\/)(?:index|utils?|common|helpers?|types|misc)(?:\/|\.(?:test\.)?tsx?$)/
    return vague.test(file.path) ? [at(file, 1, 'name it after the thing it holds')] : []
  }),
  rule('banned-suffix', 'no exported name has a vague suffix', (file) => [
    ...found(file, EMPTY_SUFFIX, 'the module is the prefix; name the thing itself'),
    ...found(file, I_PREFIX, 'drop the I: the name of the type is the name of the thing'),
  ]),
  rule('module-let', 'no file has a variable at module level', (file) =>
    file.isTest
      ? []
      : found(
          file,
          /^(?:export\s+)?(?:let|var)\b/gm,
          'keep state in what a create function returns',
        ),
  ),
  { name: 'acts-on-import', promise: 'importing a file has no side effects', check: filesThatAct },
  rule('header', 'every file begins with a comment that says what it contains', (file) =>
    /^(?:#!.*\n)?(?:\/\/|\/\*)/.test(file.text)
      ? []
      : [at(file, 1, 'begin with one to five comment lines: what it contains, what it promises')],
  ),
  rule('file-length', `no file is longer than ${FILE_LINES_MAX} lines`, (file) => {
    const lines = file.text.trimEnd().split('\n').length
    return lines > FILE_LINES_MAX
      ? [at(file, FILE_LINES_MAX + 1, `${lines} lines: this is two files`)]
      : []
  }),
  {
    name: 'line-length',
    promise: `no line is longer than ${LINE_COLUMNS_MAX} columns`,
    check: longLines,
  },
  {
    name: 'todo',
    promise: 'every to-do comment has an issue number',
    check: postponed,
  },
]

function rule(name: string, promise: string, check: (file: SourceFile) => Finding[]): Rule {
  return { name, promise, check: (repository) => repository.files.flatMap(check) }
}

// Other modules import only the entry file, so it may re-export the types of its own files.
function isEntryFile(file: SourceFile): boolean {
  return file.path === `src/${file.module}/${file.module}.ts`
}

function at(file: SourceFile, line: number, fix: string): Finding {
  return { file: file.path, line, fix }
}

function found(file: SourceFile, pattern: RegExp, fix: string): Finding[] {
  return matches(file.code, pattern).map(({ line }) => at(file, line, fix))
}

// In the first column stand imports, declarations and closing brackets; any other word there is a
// statement that runs. Of the calls in declarations only those that clearly act are reported:
// `new Map()` and `z.object()` are values, opening a socket is a side effect.
const DECLARATIONS =
  'import|export|const|let|var|function|async function|class|abstract class|type|interface|declare'
const STATEMENT = new RegExp(`^(?!(?:${DECLARATIONS})\\b)[A-Za-z_$(!+~[].*`, 'gm')
const SIDE_EFFECTS = [
  'readFile(?:Sync)?|spawn(?:Sync)?|exec(?:File)?Sync|set(?:Interval|Timeout|Immediate)',
  'connect|createConnection|createServer|new (?:Pool|Client|Worker)',
].join('|')
const SIDE_EFFECT = new RegExp(
  `^(?:export\\s+)?const\\s[^\\n]*?=\\s*(?:await\\b|(?:${SIDE_EFFECTS})\\()`,
  'gm',
)

function filesThatAct(repository: Repository): Finding[] {
  const imported = importedPaths(repository, 'values')
  const workers = workerPaths(repository)
  const mayAct = (file: SourceFile) =>
    file.isTest ||
    file.path === 'src/main.ts' ||
    workers.has(file.path) ||
    (file.folder !== 'src' && !imported.has(file.path))
  return repository.files
    .filter((file) => !mayAct(file))
    .flatMap((file) => [
      ...found(file, STATEMENT, 'put it in a function that main, or an entry, calls'),
      ...found(file, SIDE_EFFECT, 'do it in a create function, not when the file is imported'),
    ])
}

function postponed(repository: Repository): Finding[] {
  const mark = /\b(?:TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))/g
  const fix = 'do it, delete it, or write TODO(#number)'
  const sql = sqlPaths(repository).map((path) => ({ path, comments: repository.read(path) ?? '' }))
  return [...repository.files, ...sql].flatMap((file) =>
    matches(file.comments, mark).map(({ line }) => ({ file: file.path, line, fix })),
  )
}

function sqlPaths(repository: Repository): string[] {
  return repository.tracked.filter(
    (path) => /\.sql$/.test(path) && path !== 'migrations/schema.sql',
  )
}

function longLines(repository: Repository): Finding[] {
  const sql = sqlPaths(repository).map((path) => ({ path, text: repository.read(path) ?? '' }))
  return [...repository.files, ...sql].flatMap((file) =>
    file.text.split('\n').flatMap((text, index) => {
      const columns = [...text].length
      return columns > LINE_COLUMNS_MAX
        ? [{ file: file.path, line: index + 1, fix: `${columns} columns: break the line` }]
        : []
    }),
  )
}
