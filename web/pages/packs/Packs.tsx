// Buying a pack: the choice of pack and method, the exact price, and the step to the provider's
// page. The choice is in the address, so that "try again" can link to it.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Home, Method, Pack } from '../../../src/cabinet/contract/contract.ts'
import type { Mandate } from '../../../src/cabinet/contract/guards.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { paths } from '../../paths.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { brandQuery, homeQuery, packsQuery, topUpQuery } from '../../runtime/queries.ts'
import { Credits, Rubles } from '../../ui/amounts.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { CheckField } from '../../ui/form/Field.tsx'
import { Page } from '../../ui/Page.tsx'
import { Facts, Panel, PanelSkeletons } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { PromoForm } from '../payments/PromoForm.tsx'
import { useBuy } from './buy.ts'
import { MethodChoice } from './MethodChoice.tsx'
import { ModelPrices } from './ModelPrices.tsx'
import { PackChoice } from './PackChoice.tsx'

export function Packs() {
  const { t } = useTranslation()
  return (
    <Page title={t('packs.title')} lead={t('packs.lead')}>
      <QueryView query={useQuery(packsQuery)} skeleton={<PanelSkeletons lines={[7]} />}>
        {({ packs }) => <Shop packs={packs} />}
      </QueryView>
      <PromoForm />
      <ModelPrices />
    </Page>
  )
}

function Shop({ packs }: { readonly packs: readonly Pack[] }) {
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandQuery)
  const chosen = useSearch({ from: '/owner/packs' })
  const navigate = useNavigate()
  const methods = [...new Set(packs.flatMap((pack) => pack.methods))]
  const sold = packs.filter((one) => one.methods.length > 0)
  const pack = sold.find(({ id }) => id === chosen.pack) ?? sold[0]
  const method = pack?.methods.find((one) => one === chosen.method) ?? pack?.methods[0]
  const choose = (search: { pack?: string; method?: Method; save?: boolean }) =>
    void navigate({
      to: paths.packs,
      search: { ...chosen, ...search },
      replace: true,
      resetScroll: false,
    })
  if (brand?.isSelling === false || methods.length === 0) {
    return (
      <Banner tone="warn" title={t('packs.closed')}>
        {t('packs.closedText', { email: brand?.supportEmail ?? '' })}
      </Banner>
    )
  }
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[1fr_22rem]">
      <div className="grid min-w-0 gap-6">
        <PackChoice packs={packs} chosen={pack?.id} onChoose={(id) => choose({ pack: id })} />
        <MethodChoice
          methods={methods}
          possible={pack?.methods ?? []}
          chosen={method}
          onChoose={(one) => choose({ method: one })}
        />
      </div>
      {pack !== undefined && method !== undefined && (
        <Checkout
          pack={pack}
          method={method}
          savesCard={chosen.save === true && method === 'card'}
          onSaveCard={(save) => choose({ save })}
        />
      )}
    </div>
  )
}

/** The exact price and the button that leads to the payment. */
function Checkout(props: {
  readonly pack: Pack
  readonly method: Method
  /** The provider saves the card for automatic top-ups. */
  readonly savesCard: boolean
  readonly onSaveCard: (savesCard: boolean) => void
}) {
  const { pack, method, savesCard, onSaveCard } = props
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const errorText = useErrorText()
  const { data: brand } = useQuery(brandQuery)
  const { data: home } = useQuery(homeQuery)
  const { data: topUp } = useQuery(topUpQuery)
  const { buy, isPending, error } = useBuy()
  const debt = home === undefined ? 0n : BigInt(home.balance.debt.whole)
  return (
    <Panel>
      <div className="grid gap-4 lg:sticky lg:top-20">
        <Facts
          facts={[
            { name: t('packs.get'), value: <Credits value={pack.credits} /> },
            ...(home === undefined
              ? []
              : [{ name: t('packs.after'), value: format.whole(availableAfter(home, pack)) }]),
          ]}
        />
        {debt > 0n && home !== undefined && (
          <p className="text-sm text-amber">
            {t('packs.debt', { credits: phrases.credits(home.balance.debt) })}
          </p>
        )}
        <p
          className="flex flex-wrap items-baseline justify-between gap-x-4 border-t border-line
            pt-4"
        >
          <span className="text-soft">{t('packs.sum')}</span>
          <span className="font-serif text-2xl font-semibold">
            <Rubles kopecks={pack.priceKopecks} />
          </span>
        </p>
        {topUp?.isOffered === true && method === 'card' && (
          <SaveCard isChecked={savesCard} onChange={onSaveCard} mandate={topUp.mandate} />
        )}
        <Button
          tone="main"
          isWide
          isPending={isPending}
          onClick={() => void buy({ pack: pack.id, method, savesMethod: savesCard })}
        >
          {t('packs.pay', { rubles: format.rubles(pack.priceKopecks) })}
        </Button>
        <div role="alert" className="empty:hidden">
          {error !== undefined && <Banner tone="bad">{errorText(error)}</Banner>}
        </div>
        <p className="text-sm text-soft">{t('packs.leaving')}</p>
        {brand !== undefined && (
          <p className="text-sm text-soft">{t(`packs.refunds.${brand.refundPolicy}`)}</p>
        )}
      </div>
    </Panel>
  )
}

/** The available credits after this purchase: debt is paid first. */
function availableAfter({ balance }: Home, pack: Pack): bigint {
  const sum =
    BigInt(balance.available.whole) + BigInt(pack.credits.whole) - BigInt(balance.debt.whole)
  return sum > 0n ? sum : 0n
}

/** Another saved card ends a living mandate, so the field says so. */
function SaveCard(props: {
  readonly isChecked: boolean
  readonly onChange: (isChecked: boolean) => void
  readonly mandate: Mandate | null
}) {
  const { isChecked, onChange, mandate } = props
  const { t } = useTranslation()
  const isReplaced = mandate !== null && mandate.ended === null
  const hint = isReplaced ? t('topUp.keepReplaces', { title: mandate.card }) : t('topUp.keepHint')
  return (
    <CheckField isChecked={isChecked} onChange={onChange} hint={hint}>
      {t('topUp.keep')}
    </CheckField>
  )
}
