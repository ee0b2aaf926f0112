// How one file looks: what it exports, how it is named, that importing it does nothing, how long it
// is; functions.ts measures its functions. The patterns rely on Biome's formatting: a statement of
// the module itself begins in the first column, and nothing else does.
import { importedPaths, workerPaths } from './graph.ts'
import type { Finding, House, Rule, SourceFile } from './tree.ts'
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
  rule('barrel', 'no file passes on what another file exports', (file) =>
    matches(file.code, /^export\s+(type\s+)?(?:\*|\{[^}]*\}\s*from\b)/gm)
      .filter(({ match }) => match[1] === undefined || !isDoor(file))
      .map(({ line }) => at(file, line, 'let the reader import from the file that holds it')),
  ),
  rule('vague-name', 'no file or folder has a name that means nothing', (file) => {
    const vague = /(?:^|\/)(?:index|utils?|common|helpers?|types|misc)(?:\/|\.(?:test\.)?tsx?$)/
    return vague.test(file.path) ? [at(file, 1, 'name it after the thing it holds')] : []
  }),
  rule('banned-suffix', 'no exported name hides behind a suffix that means nothing', (file) => [
    ...found(file, EMPTY_SUFFIX, 'the room is the prefix; say what the thing is'),
    ...found(file, I_PREFIX, 'drop the I: the name of the type is the name of the thing'),
  ]),
  rule('module-let', 'no module keeps a variable', (file) =>
    file.isTest
      ? []
      : found(
          file,
          /^(?:export\s+)?(?:let|var)\b/gm,
          'keep state in what a create function returns',
        ),
  ),
  { name: 'acts-on-import', promise: 'importing a file does nothing', check: actors },
  rule('header', 'every file opens by saying what it holds', (file) =>
    /^(?:#!.*\n)?(?:\/\/|\/\*)/.test(file.text)
      ? []
      : [at(file, 1, 'open with one to five comment lines: what it holds, what it promises')],
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
    promise: 'every postponed piece of work has an issue number',
    check: postponed,
  },
]

function rule(name: string, promise: string, check: (file: SourceFile) => Finding[]): Rule {
  return { name, promise, check: (house) => house.files.flatMap(check) }
}

// Others may enter a room only by its door, so the door may pass on the types of its own files.
function isDoor(file: SourceFile): boolean {
  return file.path === `src/${file.room}/${file.room}.ts`
}

function at(file: SourceFile, line: number, cure: string): Finding {
  return { file: file.path, line, cure }
}

function found(file: SourceFile, pattern: RegExp, cure: string): Finding[] {
  return matches(file.code, pattern).map(({ line }) => at(file, line, cure))
}

// In the first column stand imports, declarations and closing brackets; any other word there is a
// statement that runs. Of the calls in declarations only those that clearly act are reported:
// `new Map()` and `z.object()` are values, a listening socket is a deed.
const DECLARATIONS =
  'import|export|const|let|var|function|async function|class|abstract class|type|interface|declare'
const STATEMENT = new RegExp(`^(?!(?:${DECLARATIONS})\\b)[A-Za-z_$(!+~[].*`, 'gm')
const DEEDS = [
  'readFile(?:Sync)?|spawn(?:Sync)?|exec(?:File)?Sync|set(?:Interval|Timeout|Immediate)',
  'connect|createConnection|createServer|new (?:Pool|Client|Worker)',
].join('|')
const DEED = new RegExp(`^(?:export\\s+)?const\\s[^\\n]*?=\\s*(?:await\\b|(?:${DEEDS})\\()`, 'gm')

function actors(house: House): Finding[] {
  const imported = importedPaths(house, 'values')
  const workers = workerPaths(house)
  const mayAct = (file: SourceFile) =>
    file.isTest ||
    file.path === 'src/main.ts' ||
    workers.has(file.path) ||
    (file.folder !== 'src' && !imported.has(file.path))
  return house.files
    .filter((file) => !mayAct(file))
    .flatMap((file) => [
      ...found(file, STATEMENT, 'put it in a function that main, or an entry, calls'),
      ...found(file, DEED, 'do it in a create function, not when the file is imported'),
    ])
}

function postponed(house: House): Finding[] {
  const mark = /\b(?:TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))/g
  const cure = 'do it, delete it, or write TODO(#number)'
  const sql = sqlPaths(house).map((path) => ({ path, comments: house.read(path) ?? '' }))
  return [...house.files, ...sql].flatMap((file) =>
    matches(file.comments, mark).map(({ line }) => ({ file: file.path, line, cure })),
  )
}

function sqlPaths(house: House): string[] {
  return house.tracked.filter((path) => /\.sql$/.test(path) && path !== 'migrations/schema.sql')
}

function longLines(house: House): Finding[] {
  const sql = sqlPaths(house).map((path) => ({ path, text: house.read(path) ?? '' }))
  return [...house.files, ...sql].flatMap((file) =>
    file.text.split('\n').flatMap((text, index) => {
      const columns = [...text].length
      return columns > LINE_COLUMNS_MAX
        ? [{ file: file.path, line: index + 1, cure: `${columns} columns: break the line` }]
        : []
    }),
  )
}
