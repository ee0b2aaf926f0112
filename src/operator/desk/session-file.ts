// The file that keeps the token of `op login` between commands, for its user only: mode 0600 in a
// directory of mode 0700. One file for each installation, named after the console's address.
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { randomText } from '../../platform/ids.ts'
import { commandError } from './command-error.ts'

export type SessionFileSettings = {
  /** A path, or `default`: in the user's configuration directory. */
  readonly sessionFile: string
  readonly consoleUrl: string
}

export function sessionFileOf({ sessionFile, consoleUrl }: SessionFileSettings): string {
  if (sessionFile !== 'default') return sessionFile
  const { host } = new URL(consoleUrl)
  return join(homedir(), '.config', 'tollgate', `${host.replaceAll(/[^\w.-]/g, '-')}.session`)
}

/** The token; undefined without a file. Fails if others can read it: they could act as you. */
export async function readSessionFile(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, 'r')
    try {
      const { mode } = await file.stat()
      if ((mode & 0o077) !== 0) {
        throw commandError(`${path} can be read by others: run op logout, then op login again`)
      }
      return (await file.readFile('utf8')).trim()
    } finally {
      await file.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Replaces the file by a new one, so that a mode of the old one does not stay. */
export async function writeSessionFile(path: string, token: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const made = `${path}.${randomText(6)}`
  await writeFile(made, `${token}\n`, { mode: 0o600, flag: 'wx' })
  await rename(made, path)
}

/** May be repeated. */
export function removeSessionFile(path: string): Promise<void> {
  return rm(path, { force: true })
}
