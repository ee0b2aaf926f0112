// The public price page: packs, the price of a token of each model, an example in roubles, and a
// calculator.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Pack } from '../../../src/cabinet/contract/contract.ts'
import type { Prices as PublishedPrices } from '../../../src/cabinet/contract/prices.ts'
import { creditsOf } from '../../format/decimal.ts'
import { usePhrases } from '../../format/phrases.ts'
import { kopecksFor } from '../../format/roubles.ts'
import { useFormat } from '../../format/use-format.ts'
import { SitePage } from '../../frame/SiteFrame.tsx'
import { paths } from '../../paths.ts'
import { brandQuery, meQuery, pricesQuery } from '../../runtime/queries.ts'
import { Price } from '../../ui/amounts.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { ButtonLink } from '../../ui/Button.tsx'
import { Panel, PanelSkeletons } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { ModelPrices } from '../packs/ModelPrices.tsx'
import { UnitPrice } from '../packs/UnitPrice.tsx'
import { Calculator } from './Calculator.tsx'
import { listFor, requestCost, usualLoad } from './estimate.ts'

export function Prices() {
  const { t } = useTranslation()
  return (
    <SitePage
      title={t('prices.title')}
      description={t('prices.description')}
      lead={t('prices.lead')}
    >
      <QueryView query={useQuery(pricesQuery)} skeleton={<PanelSkeletons lines={[5, 9, 8]} />}>
        {(prices) => (
          <>
            <Packs packs={prices.packs} />
            <ModelPrices isOpen />
            <Example prices={prices} />
            {prices.models.length > 0 && <Calculator prices={prices} />}
          </>
        )}
      </QueryView>
    </SitePage>
  )
}

function Packs({ packs }: { readonly packs: readonly Pack[] }) {
  const { t } = useTranslation()
  const { data: me } = useQuery(meQuery)
  const { data: brand } = useQuery(brandQuery)
  if (packs.length === 0) return <Banner>{t('prices.none')}</Banner>
  return (
    <Panel title={t('prices.packs')} hint={t('prices.packsHint')}>
      <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {packs.map((pack) => (
          <PackLine key={pack.id} pack={pack} />
        ))}
      </ul>
      <div className="mt-5 flex flex-wrap items-center gap-x-4 gap-y-2">
        {me != null ? (
          <ButtonLink to={paths.packs} tone="main">
            {t('prices.buy')}
          </ButtonLink>
        ) : (
          <ButtonLink to={paths.register} tone="main">
            {t('prices.register')}
          </ButtonLink>
        )}
        {brand !== undefined && (
          <p className="text-sm text-soft">
            {brand.isSelling ? t(`packs.refunds.${brand.refundPolicy}`) : t('prices.closed')}
          </p>
        )}
      </div>
    </Panel>
  )
}

function PackLine({ pack }: { readonly pack: Pack }) {
  const phrases = usePhrases()
  return (
    <li className="grid content-start gap-1 rounded-box border border-line p-4">
      <span className="font-serif text-2xl font-semibold">
        {phrases.creditsShort(pack.credits)}
      </span>
      <span className="text-lg font-medium">
        <Price kopecks={pack.priceKopecks} />
      </span>
      <UnitPrice pack={pack} />
    </li>
  )
}

/** The cost of a usual request as a formula, and in roubles at the price of the first pack. */
function Example({ prices }: { readonly prices: PublishedPrices }) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const [model] = prices.models
  const [pack] = prices.packs
  if (model === undefined || pack === undefined) return null
  const { input, output } = usualLoad
  const cost = requestCost(model, usualLoad)
  const list = listFor(model, usualLoad)
  const weight = list.input === '1' ? '' : ` × ${format.decimal(list.input)}`
  const coefficient = format.decimal(list.output)
  const formula = `${format.whole(input)}${weight} + ${format.whole(output)} × ${coefficient}`
  return (
    <Panel title={t('prices.example')}>
      <p className="max-w-prose wrap-anywhere">
        {t('prices.exampleText', {
          model: format.text(model.name),
          input: format.whole(input),
          output: format.whole(output),
          // No-break spaces: a formula wrapped over two lines would read as two numbers.
          formula: `${formula} = ${phrases.credits(creditsOf(cost))}`.replaceAll(' ', '\u00a0'),
          pack: phrases.creditsShort(pack.credits),
          rubles: format.rubles(kopecksFor(cost, pack)),
        })}
      </p>
    </Panel>
  )
}
