// Metrics of secrets and their successors: which ones each process has, and what the cabinet, which
// alone has the accounts secret, still has to encrypt anew.
import type { Accounts } from './accounts/accounts.ts'
import type { Config } from './platform/config.ts'
import type { Metrics } from './platform/metrics/metrics.ts'
import { secretVersionsOf } from './platform/secret-versions.ts'

/**
 * By name and id: 1 for the secret that makes, 0 for one that is accepted too. An operator sees
 * that every process accepts the new secret before one makes something with it.
 */
export function watchSecrets({ gauge }: Metrics, config: Config, role: string): void {
  if (['worker', 'operator', 'console'].includes(role)) return // they check no key and no customer
  const { tagSecret, lookupSecret } = config.keys
  const secrets = {
    ...{ 'keys.tagSecret': tagSecret, 'keys.lookupSecret': lookupSecret },
    ...(role !== 'gateway' && { 'accounts.secret': config.accounts.secret }),
  }
  const numbers = Object.fromEntries(
    Object.entries(secrets).flatMap(([name, text]) =>
      secretVersionsOf(text).map(({ id }, place) => [`${name} ${id}`, Number(place === 0)]),
    ),
  )
  gauge('gateway_secrets', '1 for a secret that makes, 0 if only accepted', () => numbers, 'min')
}

/** The numbers of the cabinet's loop, as of its last run. */
export function watchReencryption(metrics: Metrics, accounts: Accounts): void {
  const stats = () => accounts.stats().reencryption
  metrics.counter(
    'gateway_second_factors_reencrypted_total',
    'Second factors encrypted anew with the current accounts secret',
    () => stats().done,
  )
  metrics.gauge(
    'gateway_second_factors',
    'Second factors under another accounts secret, and those that no given one can decrypt',
    () => ({ left: stats().left, unreadable: stats().unreadable }),
    'max',
  )
}
