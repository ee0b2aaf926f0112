// How one signs in to the seeded account. Printed by every start; good for nothing elsewhere.
export const SIGN_IN = { email: 'demo@example.org', password: 'a month of requests' } as const
