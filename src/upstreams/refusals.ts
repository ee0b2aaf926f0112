// The refusals that upstreams raise themselves. The gateway decides how a client sees them.
import { makeRefusal } from '../platform/refusal.ts'

/** `waiting_exhausted`: no connection became free in time, or no place to wait is left. */
export const upstreamRefusalCodes = ['waiting_exhausted'] as const

export type UpstreamRefusalCode = (typeof upstreamRefusalCodes)[number]
export const upstreamRefusal = makeRefusal<UpstreamRefusalCode>
