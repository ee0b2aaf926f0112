// The packs, and what happens between registration and the first request.
import { useTranslation } from 'react-i18next'
import type { Brand, Pack } from '../../../src/cabinet/contract/contract.ts'
import { usePhrases } from '../../format/phrases.ts'
import { paths } from '../../paths.ts'
import { Price } from '../../ui/amounts.tsx'
import { ButtonLink } from '../../ui/Button.tsx'
import { UnitPrice } from '../packs/UnitPrice.tsx'
import { Section } from './Section.tsx'

const steps = ['register', 'buy', 'key', 'call'] as const

const CARD = 'grid content-start gap-1.5 rounded-box border border-line bg-sheet p-5'

export function Packs({ packs, brand }: { readonly packs: readonly Pack[]; brand: Brand }) {
  const { t } = useTranslation()
  const phrases = usePhrases()
  return (
    <Section title={t('front.packs')} lead={t('front.packsLead')}>
      <ul className="grid gap-4 sm:grid-cols-2 md:grid-cols-3 md:gap-5">
        {packs.map((pack) => (
          <li key={pack.id} className={`${CARD} sm:p-6`}>
            <span className="font-serif text-2xl font-semibold">
              <Price kopecks={pack.priceKopecks} />
            </span>
            <span className="text-lg">{phrases.creditsShort(pack.credits)}</span>
            <UnitPrice pack={pack} />
          </li>
        ))}
      </ul>
      <h3 className="mt-4 text-xl sm:text-2xl">{t('front.steps')}</h3>
      <ol className="grid gap-6 sm:grid-cols-2 lg:grid-cols-4">
        {steps.map((step, index) => (
          <li key={step} className="flex gap-4">
            <span
              aria-hidden
              className="grid size-9 shrink-0 place-items-center rounded-full border
                border-accent font-semibold text-accent"
            >
              {index + 1}
            </span>
            <div className="grid content-start gap-1 pt-1">
              <h4 className="font-medium">{t(`front.step.${step}`)}</h4>
              <p className="text-soft">{t(`front.step.${step}Text`)}</p>
            </div>
          </li>
        ))}
      </ol>
      <div className="flex flex-wrap items-center gap-4">
        <ButtonLink to={paths.register} tone="main">
          {t('site.register')}
        </ButtonLink>
        {!brand.isSelling && <p className="text-soft">{t('prices.closed')}</p>}
      </div>
    </Section>
  )
}
