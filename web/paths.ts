// The addresses of the pages. E-mails link to confirm, invitation, reset, email, undo-email, the
// four of recovery, unsubscribe, sign-in, forgot, security, limits, usage, payments, top-up, packs,
// key and orders, so these never change; the journey `emails` opens every link of every e-mail.

export const paths = {
  home: '/',
  usage: '/usage',
  sessions: '/sessions',
  packs: '/packs',
  order: '/orders/$id',
  payments: '/payments',
  key: '/key',
  settings: '/settings',
  security: '/security',
  review: '/review',
  privacy: '/privacy',
  limits: '/limits',
  topUp: '/top-up',
  document: '/documents/$document',
  docs: '/docs/$page',
  docsHome: '/docs',

  prices: '/prices',
  charging: '/charging',
  start: '/start',
  status: '/status',

  signIn: '/sign-in',
  register: '/register',
  mail: '/mail',
  confirm: '/confirm',
  invitation: '/invitation',
  forgot: '/forgot',
  reset: '/reset',
  email: '/email',
  undoEmail: '/undo-email',
  recover: '/recover',
  confirmRecovery: '/confirm-recovery',
  finishRecovery: '/finish-recovery',
  stopRecovery: '/stop-recovery',
  unsubscribe: '/unsubscribe',
} as const

/**
 * The page to open after a sign-in: a path of this site, never another site. Browsers read a
 * backslash as a slash and skip tabs and line breaks, so none of them may hide a second slash.
 */
export function safeNext(next: unknown): string {
  const isOurs = typeof next === 'string' && next.startsWith('/') && !/^\/[/\\]|\p{Cc}/u.test(next)
  return isOurs ? next : paths.home
}
