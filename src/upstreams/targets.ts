// The list of targets while the gateway serves: those that this node's file configures, and the
// changes that the operator stored in the database. A credential that the operator adds or removes
// changes the list; one that is rotated keeps its target, and so its conversations.
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import {
  type Credential,
  type CredentialSource,
  createCredential,
  isStorableReference,
} from './credential.ts'
import type { StoredCredential } from './queries.ts'

type Upstream = { readonly name: string; readonly keys: readonly CredentialSource[] }

/** The two targets of a credential; see createTargets. */
type Entry<Target> = {
  readonly upstream: string
  readonly credential: Credential
  /** Where this node's file says that it is; undefined if the operator added it. */
  readonly configured: CredentialSource | undefined
  /** The operator's change; undefined without one. */
  stored: StoredCredential | undefined
  readonly paid: Target
  readonly free: Target
}

export function createTargetList<Options extends Upstream, Target>(options: {
  readonly upstreams: readonly Options[]
  readonly clock: Clock
  readonly log: Log
  create(
    upstream: Options,
    credential: Credential,
  ): { readonly paid: Target; readonly free: Target }
  /** Targets were added or removed. */
  onChange(): void
}) {
  const { upstreams, clock, log } = options
  const entries = upstreams.flatMap((upstream) =>
    upstream.keys.map((source, i) => entryOf(upstream, String(i + 1), source, source)),
  )

  function entryOf(
    upstream: Options,
    name: string,
    source: CredentialSource,
    configured: CredentialSource | undefined,
  ): Entry<Target> {
    const label = `${upstream.name}#${name}`
    const credential = createCredential({ label, source, clock, log })
    const targets = options.create(upstream, credential)
    return { upstream: upstream.name, credential, configured, stored: undefined, ...targets }
  }

  /**
   * What the operator added at an upstream that is configured on this node. A number is that of a
   * credential which this node's file no longer lists: a rotation must not bring it back.
   */
  function addStored(stored: StoredCredential): void {
    const [upstreamName = '', name = ''] = stored.target.split('#')
    const upstream = upstreams.find((one) => one.name === upstreamName)
    if (upstream === undefined || stored.reference === null || /^\d+$/.test(name)) return
    entries.push(entryOf(upstream, name, stored.reference, undefined))
    options.onChange()
  }

  function removeUnlisted(stored: ReadonlyMap<string, StoredCredential>): void {
    const kept = entries.filter(
      ({ configured, credential }) => configured !== undefined || stored.has(credential.label),
    )
    if (kept.length === entries.length) return
    entries.splice(0, entries.length, ...kept)
    options.onChange()
  }

  return {
    entries: (): readonly Entry<Target>[] => entries,

    /** Applies what the operator stored, as a whole; may be repeated. */
    apply(list: readonly StoredCredential[]): void {
      const stored = new Map(list.filter(isAllowed).map((one) => [one.target, one]))
      removeUnlisted(stored)
      for (const one of stored.values()) {
        if (!entries.some(({ credential }) => credential.label === one.target)) addStored(one)
      }
      for (const entry of entries) {
        entry.stored = stored.get(entry.credential.label)
        const source = entry.stored?.reference ?? entry.configured
        if (source !== undefined) entry.credential.rotate(source)
      }
    },

    /** Secrets that upstreams may quote in what they answer. */
    secrets: () => entries.flatMap(({ credential }) => credential.secrets()),
    /** What is known of each credential, without the secret. */
    states: () =>
      entries.map(({ credential }) => ({
        target: credential.label,
        isUsable: credential.isUsable(),
        failures: credential.failures(),
      })),
    /** Why credentials cannot be read here, or are no longer valid. */
    problems: () =>
      entries.flatMap(({ credential: { label, problem } }) => {
        const text = problem()
        return text === undefined ? [] : [{ target: label, problem: text }]
      }),

    /** Reads what is due. Resolves when all is read, for a command up to ten seconds later. */
    async refresh(): Promise<void> {
      await Promise.all(entries.map(({ credential }) => credential.refresh()))
    },
  }
}

/** A row that a program with access to the database wrote must not make this node run a command. */
function isAllowed({ reference }: StoredCredential): boolean {
  return reference === null || isStorableReference(reference)
}
