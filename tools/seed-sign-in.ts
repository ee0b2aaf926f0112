// The e-mail and password of the seeded account, which every start prints.
export const SIGN_IN = { email: 'demo@example.org', password: 'a month of requests' } as const
