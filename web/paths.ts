// The addresses of the pages. Letters link to some of them: confirm, reset, email, sign-in, forgot
// and security keep their names for ever.

export const paths = {
  home: '/',
  packs: '/packs',
  order: '/orders/$id',
  payments: '/payments',
  key: '/key',
  settings: '/settings',
  security: '/security',
  privacy: '/privacy',
  document: '/documents/$document',

  signIn: '/sign-in',
  register: '/register',
  mail: '/mail',
  confirm: '/confirm',
  forgot: '/forgot',
  reset: '/reset',
  email: '/email',
} as const

/** Where to go after signing in: a path of ours, never another site's. */
export function safeNext(next: unknown): string {
  if (typeof next !== 'string' || !next.startsWith('/') || /^\/[/\\]/.test(next)) return paths.home
  return next
}
