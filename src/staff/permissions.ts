// What each role of operators may do. One closed table: a permission that is not in it does not
// compile, and a role that is not in its line may not use it.

export const ROLES = ['viewer', 'support', 'finance', 'admin'] as const
export type Role = (typeof ROLES)[number]

const EVERYBODY = ROLES
const SUPPORT: readonly Role[] = ['support', 'finance', 'admin']
const FINANCE: readonly Role[] = ['finance', 'admin']
const ADMIN: readonly Role[] = ['admin']

/**
 * A viewer sees figures and queues without customers' data. Support also reads customers and helps
 * them. Finance also moves money and closes months. An admin also changes prices, upstreams, the
 * installation and operators.
 */
const table = {
  /** The person's own sign-in: whoami, logout, own factors. */
  'self.use': EVERYBODY,
  /** Figures and lists without personal data. */
  'figures.read': EVERYBODY,
  'health.read': EVERYBODY,
  /** Names, addresses, statements, requests of customers. */
  'customers.read': SUPPORT,
  /** Suspending, revoking keys, writing to people. */
  'customers.change': SUPPORT,
  /** What a person may ask by law: one file of all their data, and erasure before the term. */
  'customers.papers': FINANCE,
  'credits.grant': SUPPORT,
  'credits.adjust': FINANCE,
  'payments.read': SUPPORT,
  'payments.refund': SUPPORT,
  'payments.decide': FINANCE,
  'promos.change': FINANCE,
  'month.read': FINANCE,
  'month.seal': FINANCE,
  'acts.read': SUPPORT,
  'prices.read': EVERYBODY,
  'prices.change': ADMIN,
  'upstreams.read': EVERYBODY,
  'upstreams.change': ADMIN,
  /** Draining, and weights: what the person on call does at night. */
  'upstreams.drain': SUPPORT,
  /** What customers read on the status page. */
  'incidents.write': SUPPORT,
  /** Audits, comparisons with the provider and the vendor: they write only their own findings. */
  'checks.run': SUPPORT,
  /** Charges that were lost or refused, days, restores, secrets and roles. */
  'installation.change': ADMIN,
  'installation.read': ADMIN,
  'operators.read': ADMIN,
  'operators.change': ADMIN,
  'approvals.read': SUPPORT,
} as const satisfies Record<string, readonly Role[]>

export type Permission = keyof typeof table

export const permissions = Object.keys(table) as readonly Permission[]

/** Whether a role has a permission. */
export function may(role: Role, permission: Permission): boolean {
  return (table[permission] as readonly Role[]).includes(role)
}
