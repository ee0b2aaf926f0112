// The addresses of the console's pages.

export const paths = {
  today: '/',
  search: '/search',
  account: '/accounts/$book',
  request: '/requests/$id',
  acts: '/acts',
  signIn: '/sign-in',
  /** In the links that `op operators create` prints. */
  enrol: '/invitation',
  queues: '/queues',
  own: '/own',
  months: '/months',
  month: '/months/$month',
} as const
