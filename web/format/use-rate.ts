// The price at which pages show credits in roubles: that of the owner's last purchase; for a guest
// and before the first purchase, that of the dearest pack. The pages say which of them it is.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Credits, Kopecks, PackPrice } from '../../src/cabinet/contract/contract.ts'
import { homeQuery, meQuery, pricesQuery } from '../runtime/queries.ts'
import { millionthsOf } from './decimal.ts'
import { usePhrases } from './phrases.ts'
import { dearestOf, kopecksFor } from './roubles.ts'
import { useFormat } from './use-format.ts'

export type Rate = {
  readonly pack: PackPrice
  /** At the price of …, for the end of a sentence. */
  readonly source: string
  /** The price of microcredits. */
  kopecks(microcredits: bigint): Kopecks
  /** About ₽45.86 */
  about(value: Credits): string
  /** 1,234,567 credits (about ₽45.86) */
  credits(value: Credits): string
}

/** Undefined while it loads, and if nothing is sold. */
export function useRate(): Rate | undefined {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const { data: me } = useQuery(meQuery)
  const { data: home } = useQuery({ ...homeQuery, enabled: me != null })
  const own = home?.worth?.pack
  // An owner's price is known from the overview, which every signed-in page loads.
  const needsPrices = me === null || (home !== undefined && own === undefined)
  const { data: prices } = useQuery({ ...pricesQuery, enabled: needsPrices })
  const pack = own ?? (needsPrices ? dearestOf(prices?.packs ?? []) : undefined)
  if (pack === undefined) return undefined
  const rubles = format.rubles(pack.kopecksPerMillion)
  const kopecks = (microcredits: bigint) => kopecksFor(microcredits, pack)
  const about = (value: Credits) =>
    t('credits.about', { rubles: format.rubles(kopecks(millionthsOf(value.exact))) })
  return {
    pack,
    source:
      own === undefined
        ? t('credits.atPack', { pack: phrases.creditsShort(pack.credits), rubles })
        : t('credits.atLast', { rubles }),
    kopecks,
    about,
    credits: (value) =>
      t('credits.withAbout', { credits: phrases.credits(value), about: about(value) }),
  }
}
