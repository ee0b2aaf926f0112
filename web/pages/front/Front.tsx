// The front page for visitors: what the service is, the two lines that change in a program, which
// programs work with it, what requests and typical work cost, what is promised and how it is kept,
// packs and payment. Every price is computed from the catalogue.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Brand, Pack } from '../../../src/cabinet/contract/contract.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { useDescription } from '../../frame/SiteFrame.tsx'
import { paths } from '../../paths.ts'
import { brandQuery, pricesQuery } from '../../runtime/queries.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { useArrival } from '../../ui/Page.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { Arithmetic } from './Arithmetic.tsx'
import { ClientDifference } from './ClientDifference.tsx'
import { Models } from './Models.tsx'
import { Packs } from './Packs.tsx'
import { Programs } from './Programs.tsx'
import { Promises } from './Promises.tsx'
import { TypicalWork } from './TypicalWork.tsx'

export function Front() {
  const { t } = useTranslation()
  useDescription(t('front.description'))
  const prices = useQuery(pricesQuery)
  const brand = useQuery(brandQuery)
  return (
    <div className="grid w-full gap-16 sm:gap-20">
      <QueryView query={prices} lines={10}>
        {({ packs, models }) => (
          <QueryView query={brand} lines={10}>
            {(known) => (
              <>
                <Hero brand={known} packs={packs} model={models[0]?.id ?? 'MODEL'} />
                <Programs />
                {models.length > 0 && <Arithmetic models={models} />}
                {models.length > 0 && <Models models={models} />}
                {models.length > 0 && <TypicalWork models={models} />}
                <Promises refundPolicy={known.refundPolicy} />
                {packs.length > 0 && <Packs packs={packs} brand={known} />}
              </>
            )}
          </QueryView>
        )}
      </QueryView>
    </div>
  )
}

const HERO =
  'grid items-center gap-10 pt-2 lg:grid-cols-[minmax(0,11fr)_minmax(0,10fr)] lg:gap-14 lg:pt-6'

function Hero(props: {
  readonly brand: Brand
  readonly packs: readonly Pack[]
  readonly model: string
}) {
  const { brand, packs, model } = props
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const heading = useArrival(t('front.title'))
  const smallest = smallestOf(packs)
  const facts = [
    ...(smallest === undefined
      ? []
      : [t('front.from', { rubles: format.price(smallest.priceKopecks) })]),
    t('front.fact.methods'),
    t('front.fact.forever'),
  ]
  return (
    <section className={HERO}>
      <div className="grid gap-6">
        <h1
          ref={heading}
          tabIndex={-1}
          className="text-4xl leading-[1.1] sm:text-5xl xl:text-[3.4rem]"
        >
          {t('front.title')}
        </h1>
        <p className="max-w-prose text-lg text-soft sm:text-xl">{t('front.lead')}</p>
        {brand.trialCredits !== null && (
          <p className="max-w-prose rounded-part bg-tint px-4 py-3 font-medium">
            {t('front.trial', { credits: phrases.creditsShort(brand.trialCredits) })}
          </p>
        )}
        <div className="flex flex-wrap gap-3">
          <ButtonLink to={paths.register} tone="main" className="sm:min-h-12 sm:px-6 sm:text-lg">
            {t('site.register')}
          </ButtonLink>
          <ButtonLink to={paths.prices} className="sm:min-h-12 sm:px-6 sm:text-lg">
            {t('front.prices')}
          </ButtonLink>
        </div>
        <ul className="flex flex-wrap gap-x-6 gap-y-1.5 text-sm text-soft">
          {facts.map((fact) => (
            <li key={fact} className="flex items-baseline gap-2">
              <span
                aria-hidden
                className="size-1.5 shrink-0 -translate-y-0.5 rounded-full bg-accent"
              />
              {fact}
            </li>
          ))}
        </ul>
      </div>
      <ClientDifference brand={brand} model={model} />
    </section>
  )
}

function smallestOf(packs: readonly Pack[]): Pack | undefined {
  return packs.reduce<Pack | undefined>(
    (least, pack) =>
      least === undefined || BigInt(pack.priceKopecks) < BigInt(least.priceKopecks) ? pack : least,
    undefined,
  )
}
