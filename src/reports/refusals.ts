// The refusals of reports, which only an operator can meet.
import { makeRefusal } from '../platform/refusal.ts'

export const monthRefusalCodes = [
  'month_unknown',
  'month_not_over',
  'month_sealed',
  'month_out_of_turn',
] as const

export type MonthRefusalCode = (typeof monthRefusalCodes)[number]
export const monthRefusal = makeRefusal<MonthRefusalCode>
