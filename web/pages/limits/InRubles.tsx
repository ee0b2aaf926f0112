// What a typed amount of credits costs, below its field: owners decide in roubles.
import { useTranslation } from 'react-i18next'
import { usePhrases } from '../../format/phrases.ts'
import { useRate } from '../../format/use-rate.ts'
import { wholeOf } from './amount.ts'

/** Renders nothing for an empty or invalid text. */
export function InRubles({ text }: { readonly text: string }) {
  const { t } = useTranslation()
  const phrases = usePhrases()
  const rate = useRate()
  const whole = wholeOf(text)
  if (rate === undefined || !whole) return null
  const credits = { whole, exact: whole }
  return (
    <span className="block text-ink">
      {t('limits.inRubles', {
        credits: phrases.credits(credits),
        about: rate.about(credits),
        source: rate.source,
      })}
    </span>
  )
}
