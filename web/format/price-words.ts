// Price lists, multipliers and tools in words. A value that is not known here is shown as the
// request names it, because operators may sell values that did not exist when this was written.
import { useTranslation } from 'react-i18next'
import type {
  ModelPrice,
  PriceDimension,
  PriceListName,
  ToolPrice,
} from '../../src/cabinet/contract/prices.ts'
import { creditsOf, millionthsOf } from './decimal.ts'
import { usePhrases } from './phrases.ts'
import { dimensions, isTool, valueKeys } from './price-names.ts'
import { useFormat } from './use-format.ts'

export function usePriceWords() {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()

  const dimension = (name: PriceDimension) => t(`price.dimension.${name}`)

  function value(name: PriceDimension, given: string): string {
    const key = `${name}=${given}`
    if (key in valueKeys) return t(`price.value.${valueKeys[key as keyof typeof valueKeys]}`)
    return `${dimension(name)}: ${given}`
  }

  const tool = (name: string) => (isTool(name) ? t(`price.tool.${name}`) : name)

  return {
    dimension,
    tool,
    /** The option of a field where the request asks for nothing. */
    usual: (name: PriceDimension) => t(`price.usual.${name}`),
    /** prompt above 100,000 tokens, fast mode; empty for the list by default. */
    list: ({ above, values }: PriceListName) =>
      [
        ...(above === '0'
          ? []
          : [t('price.above', { count: phrases.form(BigInt(above)), shown: format.whole(above) })]),
        ...dimensions.flatMap((name) => {
          const given = values[name]
          return given === undefined ? [] : [value(name, given)]
        }),
      ].join(', '),
    /** The values of one dimension, each with its words: fast mode ×2. */
    multipliers: ({ multipliers }: Pick<ModelPrice, 'multipliers'>, name: PriceDimension) =>
      Object.entries(multipliers[name]).map(([given, factor]) => ({
        value: given,
        words: t('price.times', { value: value(name, given), factor: format.decimal(factor) }),
      })),
    /** web search: 2,500 credits per use */
    perUse: ({ feature, perUse }: ToolPrice) =>
      t('price.perUse', {
        tool: tool(feature),
        credits: phrases.creditsExact(creditsOf(millionthsOf(perUse))),
      }),
  }
}

/** The first letter as a capital: the words are for the middle of a sentence. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
