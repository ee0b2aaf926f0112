// The addresses of the pages. Letters link to some of them: confirm, reset, email, sign-in, forgot,
// security, limits, packs, key and orders keep their names for ever; the journey `letters` opens
// every link of every letter.

export const paths = {
  home: '/',
  usage: '/usage',
  packs: '/packs',
  order: '/orders/$id',
  payments: '/payments',
  key: '/key',
  settings: '/settings',
  security: '/security',
  privacy: '/privacy',
  limits: '/limits',
  document: '/documents/$document',
  docs: '/docs/$page',

  prices: '/prices',
  charging: '/charging',
  start: '/start',
  status: '/status',

  signIn: '/sign-in',
  register: '/register',
  mail: '/mail',
  confirm: '/confirm',
  forgot: '/forgot',
  reset: '/reset',
  email: '/email',
} as const

/**
 * Where to go after signing in: a path of ours, never another site's. Browsers take a backslash for
 * a slash and overlook tabs and line breaks, so none of them may hide a second slash.
 */
export function safeNext(next: unknown): string {
  const isOurs = typeof next === 'string' && next.startsWith('/') && !/^\/[/\\]|\p{Cc}/u.test(next)
  return isOurs ? next : paths.home
}
