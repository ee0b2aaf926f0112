// The price at which the pages of usage show credits in roubles: that of the pack bought last.
import { useQuery } from '@tanstack/react-query'
import { homeQuery } from '../runtime/queries.ts'
import { kopecksFor, type PackRate } from './roubles.ts'
import { useFormat } from './use-format.ts'

/** Undefined before the first purchase. */
export function usePackRate(): PackRate | undefined {
  return useQuery(homeQuery).data?.worth?.pack
}

/** 1,25 ₽ for microcredits, rounded up to a kopeck; undefined before the first purchase. */
export function useRubles(): (microcredits: bigint) => string | undefined {
  const rate = usePackRate()
  const format = useFormat()
  return (microcredits) =>
    rate === undefined ? undefined : format.rubles(kopecksFor(microcredits, rate))
}
