// Notices about what blocks requests now or soon, the most serious first, each with what to do.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Home } from '../../../src/cabinet/contract/contract.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { useRate } from '../../format/use-rate.ts'
import { paths } from '../../paths.ts'
import { brandQuery } from '../../runtime/queries.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { usePause } from '../limits/pause.ts'

const blocks = {
  operator_blocked: 'operatorBlocked',
  owner_suspended: 'ownerSuspended',
  velocity_stopped: 'velocityStopped',
} as const

export function Notices({ home }: { readonly home: Home }) {
  const { t } = useTranslation()
  const phrases = usePhrases()
  const rate = useRate()
  const counted = rate?.credits ?? phrases.credits
  const { data: brand } = useQuery(brandQuery)
  const { available, debt } = home.balance
  // Any debt stops requests, even a fraction of a credit, which the whole number does not show.
  const hasDebt = /[1-9]/.test(debt.exact)
  const hasBought = home.worth !== null || home.nextStep !== 'buy'
  const isEmpty = BigInt(available.whole) === 0n
  const email = brand?.supportEmail ?? ''
  const topUp = (
    <ButtonLink to={paths.packs} isSmall tone="main">
      {t('home.topUp')}
    </ButtonLink>
  )
  const lowText =
    home.lowBy === 'days' && home.lowDays !== null
      ? t('home.notice.lowDaysText', { count: home.lowDays })
      : home.lowBy === 'credits' && home.lowBelow !== null
        ? t('home.notice.lowCreditsText', { credits: counted(home.lowBelow) })
        : t('home.notice.lowText')
  const block = home.blocked === null ? undefined : blocks[home.blocked]
  return (
    // Always rendered: screen readers announce only what appears in an existing element.
    <div role="status" className="grid gap-3 empty:hidden">
      {block !== undefined && (
        <Banner
          tone="bad"
          title={t(`home.notice.${block}`)}
          actions={block !== 'operatorBlocked' && <Resume isSpeed={block === 'velocityStopped'} />}
        >
          {t(`home.notice.${block}Text`, { email })}
        </Banner>
      )}
      {hasDebt && (
        <Banner
          tone="bad"
          title={
            debt.whole === '0'
              ? t('home.notice.debtSmall')
              : t('home.notice.debt', { credits: counted(debt) })
          }
          actions={topUp}
        >
          {t('home.notice.debtText')}
        </Banner>
      )}
      {!hasDebt && hasBought && isEmpty && (
        <Banner tone="bad" title={t('home.notice.empty')} actions={topUp}>
          {t('home.notice.emptyText')}
        </Banner>
      )}
      {home.beyondDayLimit !== null && <DayLimit {...home.beyondDayLimit} />}
      {!hasDebt && home.isLow && !isEmpty && (
        <Banner tone="warn" title={t('home.notice.low')} actions={topUp}>
          {lowText}
        </Banner>
      )}
    </div>
  )
}

/** A request was refused today because it could cost more than what is left of the limit. */
function DayLimit({ dayLimit, needed, left, resetsAt }: NonNullable<Home['beyondDayLimit']>) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const counted = useRate()?.credits ?? phrases.credits
  const action = (
    <ButtonLink to={paths.limits} isSmall>
      {t('home.notice.limits')}
    </ButtonLink>
  )
  return (
    <Banner tone="warn" title={t('home.notice.dayLimit')} actions={action}>
      {t('home.notice.dayLimitText', {
        needed: counted(needed),
        left: counted(left),
        limit: counted(dayLimit),
        clock: format.clock(resetsAt),
      })}
    </Banner>
  )
}

/** A button that resumes requests, and links to the other remedies. */
function Resume({ isSpeed }: { readonly isSpeed: boolean }) {
  const { t } = useTranslation()
  const resume = usePause('resume')
  return (
    <>
      <Button isSmall tone="main" isPending={resume.isPending} onClick={() => resume.mutate()}>
        {t('home.notice.resume')}
      </Button>
      <ButtonLink to={paths.limits} isSmall>
        {t('home.notice.limits')}
      </ButtonLink>
      {isSpeed && (
        <ButtonLink to={paths.key} isSmall>
          {t('nav.key')}
        </ButtonLink>
      )}
    </>
  )
}
