// The balance: available and held credits, what they are worth in roubles, and how many days they
// will last.
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Home } from '../../../src/cabinet/contract/contract.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { useRate } from '../../format/use-rate.ts'
import { paths } from '../../paths.ts'
import { useMe } from '../../runtime/session.ts'
import { Credits } from '../../ui/amounts.tsx'
import { ButtonLink } from '../../ui/Button.tsx'
import { Panel } from '../../ui/parts.tsx'

/** A forecast beyond a year is too uncertain to show. */
const DAYS_SHOWN_MAX = 365

export function BalancePanel({ home }: { readonly home: Home }) {
  const { t } = useTranslation()
  const { isClosing } = useMe()
  const { available, held } = home.balance
  // An empty balance has no worth and no days left to show.
  const hasBalance = available.whole !== '0' || held.whole !== '0'
  return (
    <Panel>
      <div className="flex flex-wrap items-end justify-between gap-x-8 gap-y-4">
        <div className="min-w-0">
          <h2 className="font-sans text-base font-normal tracking-normal text-soft">
            {t('home.balance.available')}
          </h2>
          <p className="font-serif text-4xl leading-tight font-semibold sm:text-5xl">
            <Credits value={available} />
          </p>
          <p className="mt-1 text-sm text-soft">{t('home.balance.unit')}</p>
        </div>
        {/* For a newcomer the main button is in the list of first steps above. */}
        {!isClosing && (
          <ButtonLink to={paths.packs} tone={home.nextStep === 'done' ? 'main' : 'plain'}>
            {t('home.topUp')}
          </ButtonLink>
        )}
      </div>
      {hasBalance && <BalanceFacts home={home} />}
    </Panel>
  )
}

function BalanceFacts({ home }: { readonly home: Home }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { held } = home.balance
  const isHolding = BigInt(held.whole) > 0n
  return (
    <dl className="mt-6 grid gap-5 border-t border-line pt-5 sm:grid-cols-3">
      <BalanceFact name={t('home.balance.left')} text={<PaceText home={home} />}>
        <DaysLeft home={home} />
      </BalanceFact>
      {home.worth !== null && (
        <BalanceFact
          name={t('home.balance.worth')}
          text={t('home.balance.worthText', {
            rubles: format.rubles(home.worth.pack.kopecksPerMillion),
          })}
        >
          {t('home.balance.worthValue', { rubles: format.rubles(home.worth.kopecks) })}
        </BalanceFact>
      )}
      <BalanceFact
        name={t('home.balance.held')}
        text={isHolding ? t('home.balance.heldText') : undefined}
      >
        <Credits value={held} />
      </BalanceFact>
    </dl>
  )
}

function BalanceFact(props: {
  readonly name: string
  readonly text: ReactNode
  readonly children: ReactNode
}) {
  return (
    <div className="min-w-0">
      <dt className="text-sm text-soft">{props.name}</dt>
      <dd>
        <div className="figures font-medium">{props.children}</div>
        {props.text !== undefined && <div className="mt-0.5 text-sm text-soft">{props.text}</div>}
      </dd>
    </div>
  )
}

function DaysLeft({ home }: { readonly home: Home }) {
  const { t } = useTranslation()
  const days = home.pace.daysLeft
  if (days === null) {
    return t(home.requests.total === '0' ? 'home.balance.leftUnknown' : 'home.balance.leftIdle')
  }
  if (days < 1) return t('home.balance.leftUnderDay')
  if (days > DAYS_SHOWN_MAX) return t('home.balance.leftOverYear')
  return t('home.balance.leftDays', { count: days })
}

function PaceText({ home }: { readonly home: Home }) {
  const { t } = useTranslation()
  const phrases = usePhrases()
  const rate = useRate()
  const { daysLeft, creditsPerDay, overDays } = home.pace
  if (daysLeft === null) return null
  const credits = phrases.creditsShort(creditsPerDay)
  return t('home.balance.leftText', {
    count: overDays,
    credits:
      rate === undefined
        ? credits
        : t('credits.withAbout', { credits, about: rate.about(creditsPerDay) }),
  })
}
