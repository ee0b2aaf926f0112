// The addresses of the console's pages.

export const paths = {
  today: '/',
  search: '/search',
  account: '/accounts/$book',
  request: '/requests/$id',
  acts: '/acts',
  signIn: '/sign-in',
  /** Where the identity provider sends the browser back to. */
  provider: '/sign-in/provider',
  /** In the links that `op operators create` prints. */
  enrol: '/invitation',
  queues: '/queues',
  own: '/own',
  months: '/months',
  month: '/months/$month',
  figure: '/figures/$name',
  catalogue: '/catalogue',
  catalogueEdit: '/catalogue/edit',
  catalogueVersion: '/catalogue/$version',
  upstreams: '/upstreams',
  alarms: '/alarms',
  runbook: '/runbooks/$document/$section',
} as const
