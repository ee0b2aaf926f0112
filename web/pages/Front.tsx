// The front page for visitors: what the service is, what the smallest pack costs, the first four
// steps, and what is promised.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Pack } from '../../src/cabinet/contract/contract.ts'
import { usePhrases } from '../format/phrases.ts'
import { useFormat } from '../format/use-format.ts'
import { useDescription } from '../frame/SiteFrame.tsx'
import { paths } from '../paths.ts'
import { brandQuery, pricesQuery } from '../runtime/queries.ts'
import { ButtonLink } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { useArrival } from '../ui/Page.tsx'

const steps = ['register', 'buy', 'key', 'call'] as const
const promises = ['exact', 'free', 'limit', 'silent'] as const

export function Front() {
  const { t } = useTranslation()
  const { data: prices } = useQuery(pricesQuery)
  const { data: brand } = useQuery(brandQuery)
  const heading = useArrival(t('front.title'))
  useDescription(t('front.description'))
  const smallest = smallestOf(prices?.packs ?? [])
  const isUnit = prices?.models.every(({ lists }) => lists[0].input === '1') ?? false
  return (
    <div className="grid w-full gap-12 sm:gap-16">
      <section className="grid items-center gap-8 lg:grid-cols-[3fr_2fr] lg:gap-14">
        <div className="grid gap-5">
          <h1 ref={heading} tabIndex={-1} className="text-3xl sm:text-5xl">
            {t('front.title')}
          </h1>
          <p className="max-w-prose text-lg text-soft">{t('front.lead')}</p>
          <div className="flex flex-wrap gap-3">
            <ButtonLink to={paths.register} tone="main">
              {t('site.register')}
            </ButtonLink>
            <ButtonLink to={paths.prices}>{t('front.prices')}</ButtonLink>
          </div>
        </div>
        {smallest !== undefined && <SmallestPack pack={smallest} isUnit={isUnit} />}
      </section>
      <Steps address={brand?.apiUrl} />
      <section className="grid gap-5">
        <h2 className="text-2xl">{t('front.promises')}</h2>
        <ul className="grid gap-x-10 gap-y-6 sm:grid-cols-2">
          {promises.map((promise) => (
            <li key={promise} className="border-t-2 border-accent pt-3">
              <h3 className="text-lg">{t(`front.promise.${promise}`)}</h3>
              <p className="mt-1 text-soft">{t(`front.promise.${promise}Text`)}</p>
            </li>
          ))}
        </ul>
      </section>
    </div>
  )
}

/** `isUnit`: an input token of every model costs one credit. */
function SmallestPack({ pack, isUnit }: { readonly pack: Pack; readonly isUnit: boolean }) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  return (
    <div className="overflow-hidden rounded-box border border-line bg-sheet">
      <div aria-hidden className="barrier h-2" />
      <div className="grid gap-2 p-6">
        <p className="font-serif text-2xl font-semibold">
          {t('front.from', { rubles: format.rubles(pack.priceKopecks) })}
        </p>
        <p className="text-soft">
          {t(isUnit ? 'front.fromText' : 'front.fromTextPlain', {
            credits: phrases.creditsShort(pack.credits),
          })}
        </p>
      </div>
    </div>
  )
}

function Steps({ address }: { readonly address: string | undefined }) {
  const { t } = useTranslation()
  return (
    <section className="grid gap-5">
      <h2 className="text-2xl">{t('front.steps')}</h2>
      <ol className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
        {steps.map((step, index) => (
          <li key={step} className="rounded-box border border-line bg-sheet p-5">
            <span
              aria-hidden
              className="grid size-8 place-items-center rounded-full border border-accent
                font-semibold text-accent"
            >
              {index + 1}
            </span>
            <h3 className="mt-3 text-lg">{t(`front.step.${step}`)}</h3>
            <p className="mt-1 text-soft">{t(`front.step.${step}Text`)}</p>
          </li>
        ))}
      </ol>
      {address !== undefined && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <span className="text-soft">{t('front.address')}</span>
          <code translate="no" className="rounded-part bg-sunk px-3 py-1.5 break-all">
            {address}
          </code>
          <CopyButton value={address} tone="quiet" />
        </div>
      )}
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
