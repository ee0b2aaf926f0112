// What it costs, for everybody: packs, what a token of each model costs, an example in roubles, and
// a calculator.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Pack, Prices as PriceList } from '../../../src/cabinet/contract/contract.ts'
import { creditsOf } from '../../format/decimal.ts'
import { useFormat } from '../../format/format.ts'
import { usePhrases } from '../../format/phrases.ts'
import { SitePage } from '../../frame/SiteFrame.tsx'
import { paths } from '../../paths.ts'
import { brandAsk, meAsk, pricesAsk } from '../../runtime/asks.ts'
import { Asked } from '../../ui/Asked.tsx'
import { Rubles } from '../../ui/amounts.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { ButtonLink } from '../../ui/Button.tsx'
import { Panel } from '../../ui/parts.tsx'
import { ModelPrices } from '../packs/ModelPrices.tsx'
import { UnitPrice } from '../packs/UnitPrice.tsx'
import { Calculator } from './Calculator.tsx'
import { kopecksFor, requestCost, usualLoad } from './estimate.ts'

export function Prices() {
  const { t } = useTranslation()
  return (
    <SitePage
      title={t('prices.title')}
      description={t('prices.description')}
      lead={t('prices.lead')}
    >
      <Asked query={useQuery(pricesAsk)} lines={8}>
        {(prices) => (
          <>
            <Packs packs={prices.packs} />
            <ModelPrices isOpen />
            <Example prices={prices} />
            {prices.models.length > 0 && <Calculator prices={prices} />}
          </>
        )}
      </Asked>
    </SitePage>
  )
}

function Packs({ packs }: { readonly packs: readonly Pack[] }) {
  const { t } = useTranslation()
  const { data: me } = useQuery(meAsk)
  const { data: brand } = useQuery(brandAsk)
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
        <Rubles kopecks={pack.priceKopecks} />
      </span>
      <UnitPrice pack={pack} />
    </li>
  )
}

/** The formula with numbers in it, at the price of the first pack. */
function Example({ prices }: { readonly prices: PriceList }) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const [model] = prices.models
  const [pack] = prices.packs
  if (model === undefined || pack === undefined) return null
  const { input, output } = usualLoad
  const cost = requestCost(model, usualLoad)
  const coefficient = format.decimal(model.coefficient)
  const formula = `${format.whole(input)} + ${format.whole(output)} × ${coefficient}`
  return (
    <Panel title={t('prices.example')}>
      <p className="max-w-prose wrap-anywhere">
        {t('prices.exampleText', {
          model: model.name,
          input: format.whole(input),
          output: format.whole(output),
          // In one piece: broken over two lines it would read as two numbers.
          formula: `${formula} = ${phrases.credits(creditsOf(cost))}`.replaceAll(' ', '\u00a0'),
          pack: phrases.creditsShort(pack.credits),
          rubles: format.rubles(String(kopecksFor(cost, pack))),
        })}
      </p>
    </Panel>
  )
}
