// The e-mails and passwords of the seeded account and of the seeded operator, which every start
// prints.
export const SIGN_IN = { email: 'demo@example.org', password: 'a month of requests' } as const
export const OPERATOR = {
  ...{ email: 'operator@example.org', password: 'a desk for the demo', name: 'Demo operator' },
} as const
