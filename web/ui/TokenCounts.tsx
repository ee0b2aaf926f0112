// The tokens of a request: input → output, and cached tokens below.
import { useTranslation } from 'react-i18next'
import { useFormat } from '../format/use-format.ts'

/** 1 200 → 340; screen readers get a sentence. */
export function TokenCounts(props: {
  readonly input: bigint
  readonly output: bigint
  readonly cached: bigint
}) {
  const { t } = useTranslation()
  const format = useFormat()
  const input = format.whole(props.input)
  const output = format.whole(props.output)
  return (
    <span className="figures">
      <span aria-hidden>{t('home.latest.countsValue', { input, output })}</span>
      <span className="sr-only">{t('home.latest.countsRead', { input, output })}</span>
      {props.cached > 0n && (
        <span className="block text-sm text-soft">
          {t('home.latest.countsCached', { cached: format.whole(props.cached) })}
        </span>
      )}
    </span>
  )
}
