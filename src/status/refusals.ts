// The refusals of the status page, which only an operator can meet.
import { makeRefusal } from '../platform/refusal.ts'

export const statusRefusalCodes = ['incident_unknown', 'incident_closed'] as const

export type StatusRefusalCode = (typeof statusRefusalCodes)[number]
export const statusRefusal = makeRefusal<StatusRefusalCode>
