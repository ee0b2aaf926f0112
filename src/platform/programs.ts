// Which program reads which secrets. A program never reads the others, even if they are in its
// environment: a flaw in the gateway, which faces the internet, must not give away the keys of
// payments, sessions and e-mail. docs/security.md has the same table for people.

export const PROGRAMS = ['serve', 'cabinet', 'console', 'work', 'op', 'migrate'] as const
export type Program = (typeof PROGRAMS)[number]

const DATABASE = ['database.url', 'database.directUrl']
const KEYS = ['keys.tagSecret', 'keys.lookupSecret']
const PAYMENTS = ['payments.digestSecret', 'yookassa.secretKey', 'yookassa.earlierShops']
const OPERATORS = ['operators.secret', 'operators.token']
/** What jobs and operators' commands share: audits, old days, e-mail, the vendor's bill, acts. */
const WORK_AND_OP = [
  ...['database.standbyUrl', 'database.keeperUrl', 'mail.smtpUrl', 'vendorBill.key'],
  'acts.shipSecret',
]

export const SECRETS: Readonly<Record<Program, readonly string[]>> = {
  serve: [...DATABASE, ...KEYS, 'upstream.key', 'upstream.proxyLogin'],
  // It posts e-mails to the outbox in the database; `work` sends them.
  cabinet: [...DATABASE, ...KEYS, ...PAYMENTS, 'accounts.secret'],
  // It runs the commands that need no more than these; the others are for `op`.
  console: [...DATABASE, ...PAYMENTS, 'operators.secret', 'operators.oidcClientSecret'],
  work: [...DATABASE, ...PAYMENTS, ...WORK_AND_OP, 'status.probeKey'],
  op: [...DATABASE, ...KEYS, ...PAYMENTS, ...WORK_AND_OP, ...OPERATORS],
  migrate: DATABASE,
}

/** True for settings that are not secret too; without a program every setting is read. */
export function isReadBy(
  program: Program | undefined,
  { name, isSecret }: { readonly name: string; readonly isSecret?: boolean },
): boolean {
  return program === undefined || isSecret !== true || SECRETS[program].includes(name)
}

/** What production says about a secret that the gateway has and does not read. */
export function foreignSecretProblem(name: string, where: string): string {
  return (
    `${name} (${where}): serve faces the internet and must not have this secret; remove it from ` +
    'its environment, secrets and settings file, or set allow.sharedSecrets'
  )
}

/** `none`, or an address without a password: nothing that must be kept from a program. */
export function isHarmless(value: string): boolean {
  return value === 'none' || URL.parse(value)?.password === ''
}
