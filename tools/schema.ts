// The text of migrations/schema.sql: the migrated database as pg_dump shows it, without dated
// partitions. Each table is followed by its constraints, indexes and triggers, and by the functions
// that these call; a list names the file of every function. A test compares text and file.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { functionsIn, readSqlFiles } from './sql-files.ts'

const run = promisify(execFile)

/** One part of a dump: `type` as pg_dump calls it (TABLE, FK CONSTRAINT …), and its statements. */
type Part = { readonly type: string; readonly name: string; readonly text: string }

const HEAD = `-- What the migrations make of the database. Made by: npm run dump-schema
-- Each table stands with its constraints, indexes and triggers, and with the text of the functions
-- that its checks and triggers call. The last lines name the file of every function.`
const HEADER = /^-- Name: (.+); Type: ([A-Z ]+); Schema: public; .*$/m
const ABOUT = /\b(?:ALTER TABLE(?: ONLY)?|ON(?: ONLY)?) (\w+)/
const BODY = /\bAS (\$\w*\$)\n?([\s\S]*?)\s*\1;/

/** Undefined where there is no pg_dump (a laptop with only the embedded server). */
export async function dumpSchema(url: string): Promise<string | undefined> {
  const args = ['--schema-only', '--no-owner', '--no-privileges', '--schema=public']
  const dated = ['-T', 'entries_2*', '-T', 'holds_[0-9]*', '-T', 'kysely_*']
  try {
    const { stdout } = await run('pg_dump', [...args, ...dated, url], { maxBuffer: 64 * 2 ** 20 })
    return readable(partsOf(stdout))
  } catch (error) {
    const code = (error as { code?: unknown }).code
    // A pg_dump that is older than the server refuses to run: no text then either.
    const isOld = String((error as { stderr?: unknown }).stderr).includes('server version mismatch')
    if (code === 'ENOENT' || isOld) return undefined
    throw error
  }
}

/** pg_dump writes a comment with name and type above each part. */
function partsOf(dump: string): Part[] {
  return dump.split(/^--\n(?=-- Name: )/m).flatMap((one) => {
    const [header = '', name = '', type = ''] = HEADER.exec(one) ?? []
    if (header === '') return []
    const text = one
      .slice(header.length)
      .replace(/^--\n/gm, '')
      .replace(/^(?:-- PostgreSQL database dump complete|SET |\\).*\n?/gm, '')
      .replaceAll('public.', '')
      .trim()
    return [{ type, name, text }]
  })
}

function readable(parts: readonly Part[]): string {
  const functions = new Map(
    parts
      .filter(({ type }) => type === 'FUNCTION')
      .map(({ name, text }) => [name.replace(/\(.*/, ''), text]),
  )
  const files = filesOf([...functions.keys()])
  const partitions = parts.filter(({ type }) => type === 'TABLE ATTACH').map(({ name }) => name)
  const shown = parts.filter(({ type }) => type !== 'FUNCTION' && type !== 'INDEX ATTACH')
  const byTable = [...Map.groupBy(shown, tableOf)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const sections = byTable.flatMap(([table, ofTable]) => {
    const texts = ofTable.map(({ text }) => text)
    // A partition has the constraints of its table.
    return partitions.includes(table) ? texts : [...texts, ...rulesIn(texts, functions, files)]
  })
  const list = ['-- Every function, and the file with its text:', ...listOf(files)].join('\n')
  return `${[HEAD, ...sections, list].join('\n\n')}\n`
}

/** The table that a part belongs to; empty for types and for sequences without a column. */
function tableOf({ type, name, text }: Part): string {
  return type === 'TABLE' ? name : (ABOUT.exec(text)?.[1] ?? '')
}

function filesOf(functions: readonly string[]): Map<string, string> {
  const files = new Map(
    readSqlFiles().flatMap((file) => functionsIn(file).map((name) => [name, file.path] as const)),
  )
  return new Map(
    functions.toSorted().map((name) => {
      const path = files.get(name)
      if (path === undefined) throw new Error(`${name} stands in no file of src/*/sql`)
      return [name, path]
    }),
  )
}

function listOf(files: ReadonlyMap<string, string>): string[] {
  return [...files].map(([name, path]) => `--   ${name} → ${path}`)
}

/** The texts of the functions that a table's checks and triggers call, as comments. */
function rulesIn(
  texts: readonly string[],
  functions: ReadonlyMap<string, string>,
  files: ReadonlyMap<string, string>,
): string[] {
  const rules = texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => / CHECK | EXECUTE FUNCTION /.test(line))
    .join('\n')
  return [...functions]
    .filter(([name]) => new RegExp(`\\b${name}\\(`).test(rules))
    .map(([name, text]) => {
      const body = BODY.exec(text)?.[2] ?? ''
      const lines = body.split('\n').map((line) => `--   ${line}`.trimEnd())
      return [`-- ${name}, ${files.get(name)}:`, ...lines].join('\n')
    })
}
