// One of our credentials at an upstream. Its secret comes from a variable, a file or a command; a
// file is read again when it changes, a command runs again before its token expires. If that fails,
// the secret before stays in use until it expires. No text here contains a secret.
import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Clock } from '../platform/clock.ts'
import { SECRET_BYTES_MAX, secretFileProblem, secretOf } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'
import type { Masked } from '../platform/masked.ts'
import { HEADER_VALUE } from '../platform/setting-shapes.ts'
import type { CredentialHeader } from './port.ts'

const run = promisify(execFile)

/** A secret of the settings, or a reference: `[bearer:](env:NAME|file:/path|command:/path …)`. */
export type CredentialSource = Masked<string> | string

const REFERENCE = /^(?:bearer:)?(?:env|file|command):.+$/

export function isReference(text: string): boolean {
  return REFERENCE.test(text)
}

/**
 * Whether a text names a credential that can be stored in the database: no command, and no path
 * that depends on where a process was started.
 */
export function isStorableReference(text: string): boolean {
  return /^(?:bearer:)?(?:env:[A-Za-z_]\w*|file:\/.*)$/.test(text)
}

/** Why a gateway should not start with this reference. A command is not run to find out. */
export function referenceProblem(reference: string): string | undefined {
  const place = reference.replace(/^bearer:/, '')
  if (place.startsWith('command:')) return undefined
  const text = secretOf(place)?.reveal().trim() ?? ''
  if (text === '') return `${place} is empty, absent or not a regular file of at most 64 KiB`
  const isToken = text.startsWith('{') || HEADER_VALUE.test(text)
  return isToken ? undefined : `${place} contains characters that no header may have`
}

/** A token service answers within seconds; a command that hangs must not hang for ever. */
const COMMAND_MS_MAX = 10_000
/** As for files: tokens have up to some kilobytes. */
const TEXT_BYTES_MAX = SECRET_BYTES_MAX
/** A command whose output does not say when it expires. */
const REPEAT_MS = 900_000
/** A token is renewed this long before it expires, or after 3/4 of a shorter life. */
const RENEW_BEFORE_MS = 300_000
/** After a failure of a command: often enough for a token that expires in five minutes. */
const RETRY_MS = 10_000
/** Earlier secrets that are still removed from replies: requests under way may be answered. */
const SECRETS_KEPT = 4

type Token = { readonly secret: string; readonly expiresAtMs: number | undefined }

export type Credential = ReturnType<typeof createCredential>

export function createCredential(options: {
  readonly label: string
  readonly source: CredentialSource
  readonly clock: Clock
  readonly log: Log
}) {
  const { label, clock, log } = options
  const state = {
    source: options.source,
    header: undefined as CredentialHeader | undefined,
    expiresAtMs: undefined as number | undefined,
    /** When the secret is read again, by the monotonic clock. */
    dueMs: 0,
    /** What the file looked like when it was read. */
    version: '',
    problem: undefined as string | undefined,
    failures: 0,
    reading: undefined as Promise<void> | undefined,
    secretNumber: 0,
  }
  const secrets: string[] = []
  take(state.source)

  /** A secret of the settings is used at once; a reference when it has been read. */
  function take(source: CredentialSource): void {
    state.source = source
    state.dueMs = 0
    state.version = ''
    if (typeof source !== 'string') {
      use({ secret: source.reveal(), expiresAtMs: undefined }, 'x-api-key')
      state.dueMs = Number.POSITIVE_INFINITY
    }
  }

  function use({ secret, expiresAtMs }: Token, scheme: 'x-api-key' | 'bearer'): void {
    state.header =
      scheme === 'bearer' ? ['authorization', `Bearer ${secret}`] : ['x-api-key', secret]
    state.expiresAtMs = expiresAtMs
    if (secrets[0] !== secret) {
      secrets.unshift(secret)
      state.secretNumber += 1
    }
    secrets.length = Math.min(secrets.length, SECRETS_KEPT)
  }

  async function read(reference: string): Promise<void> {
    const isBearer = reference.startsWith('bearer:')
    const place = isBearer ? reference.slice('bearer:'.length) : reference
    try {
      const version = await versionOf(place)
      if (version !== undefined && version === state.version) {
        state.problem = undefined
        return
      }
      const token = parseToken(await textOf(place), clock.nowMs())
      if (state.source !== reference) return // rotated meanwhile
      use(token, isBearer ? 'bearer' : 'x-api-key')
      state.version = version ?? ''
      state.dueMs = clock.spanMs() + waitOf(place, token.expiresAtMs, clock.nowMs())
      if (state.problem !== undefined) log.info({ target: label }, 'the credential is read again')
      state.problem = undefined
    } catch (error) {
      if (state.source !== reference) return
      state.failures += 1
      state.dueMs = clock.spanMs() + (place.startsWith('command:') ? RETRY_MS : 0)
      const problem = `${place}: ${(error as Error).message}`
      // Once, not at each attempt.
      if (problem !== state.problem) {
        log.error(
          { target: label, problem },
          'a credential cannot be read; the one before is used until it expires',
        )
      }
      state.problem = problem
    }
  }

  const isExpired = () => state.expiresAtMs !== undefined && clock.nowMs() >= state.expiresAtMs

  return {
    label,
    /** The header of a request. A request that has begun keeps the one it was sent with. */
    header: (): CredentialHeader => state.header ?? ['x-api-key', ''],
    /** Of the secret in use: another secret has another number. */
    secretNumber: (): number => state.secretNumber,
    /** False until it was read for the first time, and when its token has expired. */
    isUsable: (): boolean => state.header !== undefined && !isExpired(),
    /** Why it cannot be read, or that it has expired; undefined while all is well. */
    problem: (): string | undefined =>
      state.problem ?? (isExpired() ? 'its token has expired' : undefined),
    failures: (): number => state.failures,
    /** The secret in use and earlier ones, to be removed from what upstreams answer. */
    secrets: (): readonly string[] => secrets,

    /** Takes the secret from elsewhere; until it is read, the one before stays in use. */
    rotate(source: CredentialSource): void {
      if (source === state.source) return
      state.reading = undefined
      take(source)
    },

    /** Reads the secret if it is due; resolves when that is over. Never rejects. */
    refresh(): Promise<void> {
      const { source } = state
      if (typeof source !== 'string' || clock.spanMs() < state.dueMs) return Promise.resolve()
      if (state.reading !== undefined) return state.reading
      const reading = read(source).finally(() => {
        if (state.reading === reading) state.reading = undefined
      })
      state.reading = reading
      return reading
    },
  }
}

/** What changes whenever the file does; undefined for other references. */
async function versionOf(place: string): Promise<string | undefined> {
  if (!place.startsWith('file:')) return undefined
  const found = await stat(place.slice('file:'.length)).catch((error: unknown) => {
    throw unreadable(error)
  })
  const problem = secretFileProblem(found)
  if (problem !== undefined) throw new Error(problem)
  return `${found.mtimeMs} ${found.size} ${found.ino}`
}

async function textOf(place: string): Promise<string> {
  const [kind, rest] = splitOnce(place, ':')
  if (kind === 'env') {
    const value = secretOf(place)?.reveal()
    if (value === undefined) throw new Error('the variable is empty or absent')
    return value
  }
  if (kind === 'file') {
    return await readFile(rest, 'utf8').catch((error: unknown) => {
      throw unreadable(error)
    })
  }
  return await outputOf(rest)
}

function unreadable(error: unknown): Error {
  return new Error(`the file cannot be read: ${(error as NodeJS.ErrnoException).code}`)
}

/** Words between spaces; there is no shell, so no quotes. */
async function outputOf(command: string): Promise<string> {
  const [file = '', ...args] = command.split(/\s+/).filter((word) => word !== '')
  const limits = { timeout: COMMAND_MS_MAX, maxBuffer: TEXT_BYTES_MAX }
  try {
    return (await run(file, args, { ...limits, killSignal: 'SIGKILL' })).stdout
  } catch (error) {
    // Not the error's own message: it contains what the command printed.
    const { code, signal } = error as { code?: string | number; signal?: string }
    throw new Error(`the command ended with ${signal ?? code}`)
  }
}

function splitOnce(text: string, by: string): [string, string] {
  const at = text.indexOf(by)
  return [text.slice(0, at), text.slice(at + 1)]
}

/**
 * The text is the secret, or a JSON object with `token` (or `access_token`) and when it expires:
 * `expires_at` (ISO 8601, or seconds since 1970) or `expires_in` (seconds).
 */
function parseToken(text: string, nowMs: number): Token {
  const trimmed = text.trim()
  const token = trimmed.startsWith('{')
    ? readJsonToken(trimmed, nowMs)
    : { secret: trimmed, expiresAtMs: undefined }
  if (!HEADER_VALUE.test(token.secret)) throw new Error('it contains no credential')
  if (token.expiresAtMs !== undefined && token.expiresAtMs <= nowMs) {
    throw new Error('its token has expired')
  }
  return token
}

function readJsonToken(text: string, nowMs: number): Token {
  let read: Record<string, unknown>
  try {
    read = JSON.parse(text)
  } catch {
    throw new Error('it is not valid JSON') // the parser's own message shows the text
  }
  const secret = read.token ?? read.access_token
  const expiresAtMs = expiryOf(read, nowMs)
  if (typeof secret !== 'string') throw new Error('it contains no credential')
  if (expiresAtMs !== undefined && !Number.isFinite(expiresAtMs)) {
    throw new Error('when it expires cannot be read')
  }
  return { secret, expiresAtMs }
}

function expiryOf(read: Record<string, unknown>, nowMs: number): number | undefined {
  const { expires_at: at, expires_in: seconds } = read
  if (at !== undefined) return typeof at === 'number' ? at * 1_000 : Date.parse(String(at))
  return seconds === undefined ? undefined : nowMs + Number(seconds) * 1_000
}

/** How long until a reference is read again. */
function waitOf(place: string, expiresAtMs: number | undefined, nowMs: number): number {
  if (place.startsWith('file:')) return 0 // at each refresh, if it has changed
  if (place.startsWith('env:')) return Number.POSITIVE_INFINITY
  if (expiresAtMs === undefined) return REPEAT_MS
  const lifeMs = expiresAtMs - nowMs
  return Math.max(lifeMs - RENEW_BEFORE_MS, lifeMs * 0.75)
}
