// The first models of the catalogue: what a token costs in credits, and a million tokens in
// roubles.
import { useTranslation } from 'react-i18next'
import type { ModelPrice, TokenKind } from '../../../src/cabinet/contract/prices.ts'
import { MILLION, millionthsOf } from '../../format/decimal.ts'
import { useFormat } from '../../format/use-format.ts'
import { useRate } from '../../format/use-rate.ts'
import { paths } from '../../paths.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { Section } from './Section.tsx'

/** One row on a desktop. */
const SHOWN_MAX = 3
const kinds = ['input', 'output', 'cacheRead'] as const satisfies readonly TokenKind[]

export function Models({ models }: { readonly models: readonly ModelPrice[] }) {
  const { t } = useTranslation()
  return (
    <Section title={t('front.models.title')} lead={t('front.models.lead')}>
      <ul className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3 lg:gap-5">
        {models.slice(0, SHOWN_MAX).map((model) => (
          <ModelCard key={model.id} model={model} />
        ))}
      </ul>
      <div>
        <ButtonLink to={paths.prices}>{t('front.models.all', { count: models.length })}</ButtonLink>
      </div>
    </Section>
  )
}

const CARD = 'grid min-w-0 content-start gap-4 rounded-box border border-line bg-sheet p-5'

function ModelCard({ model }: { readonly model: ModelPrice }) {
  const { t } = useTranslation()
  const format = useFormat()
  const rate = useRate()
  const [list] = model.lists
  return (
    <li className={`${CARD} lg:p-6`}>
      <div>
        <h3 className="text-xl">{format.text(model.name)}</h3>
        <code translate="no" className="text-sm wrap-anywhere text-soft">
          {model.id}
        </code>
        <p className="mt-2 text-sm text-soft">
          {t('front.models.context', { tokens: format.whole(model.contextWindow) })}
        </p>
      </div>
      <dl className="grid gap-2">
        {kinds.map((kind) => (
          <div key={kind} className="flex items-baseline gap-2">
            <dt className="whitespace-nowrap">{t(`front.models.${kind}`)}</dt>
            <span aria-hidden className="leader" />
            <dd className="figures text-end">
              {rate === undefined
                ? t('front.models.credits', { credits: format.decimal(list[kind]) })
                : format.rubles(rate.kopecks(millionthsOf(list[kind]) * MILLION))}
            </dd>
          </div>
        ))}
      </dl>
    </li>
  )
}
