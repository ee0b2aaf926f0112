// The reader's view of the database: what all migrations together make of it, as pg_dump sees it,
// without dated partitions, function bodies and noise. migrations/schema.sql keeps it; a test
// compares the two.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Undefined where there is no pg_dump (a laptop with only the embedded server). */
export async function dumpSchema(url: string): Promise<string | undefined> {
  const args = ['--schema-only', '--no-owner', '--no-privileges', '--schema=public']
  const dated = ['-T', 'entries_2*', '-T', 'holds_[0-9]*', '-T', 'kysely_*']
  try {
    const { stdout } = await run('pg_dump', [...args, ...dated, url], { maxBuffer: 64 * 2 ** 20 })
    return readable(stdout)
  } catch (error) {
    const code = (error as { code?: unknown }).code
    // A pg_dump older than the server refuses: then the view cannot be made here either.
    const isOld = String((error as { stderr?: unknown }).stderr).includes('server version mismatch')
    if (code === 'ENOENT' || isOld) return undefined
    throw error
  }
}

function readable(dump: string): string {
  const kept = dump
    .replace(/^CREATE FUNCTION [\s\S]*?\n(?:\s+AS )?[\s\S]*?\$(?:\$|_\$);\n/gm, '')
    .replace(/^CREATE FUNCTION [\s\S]*?;\n\n/gm, '')
    .split('\n')
    .filter((line) => !/^(--|SET |SELECT pg_catalog|\\)/.test(line))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replaceAll('public.', '')
    .trim()
  return `-- What the migrations make of the database. Made by: npm run dump-schema\n\n${kept}\n`
}
