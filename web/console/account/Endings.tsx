// What is under way that ends or replaces something of the account: a closing with what it waits
// for, and a recovery with its time.
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type {
  Account,
  ClosingLine,
  RecoveryLine,
} from '../../../src/operator/console/contract/contract.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { useLines } from '../command/use-lines.ts'

export function Endings({ account }: { readonly account: Account }) {
  const { closing, recovery } = account
  return (
    <>
      {closing !== null && <ClosingBanner closing={closing} />}
      {recovery !== null && <RecoveryBanner recovery={recovery} />}
    </>
  )
}

function ClosingBanner({ closing }: { readonly closing: ClosingLine }) {
  const { t } = useTranslation()
  const shown = useLines()
  const { step, waits } = closing
  return (
    <Banner tone="warn" title={t(`console.account.closing.${step}`)}>
      <BegunBy of={closing} />
      {waits.length === 0 && <p>{t('console.account.closing.goesOn')}</p>}
      <ul>
        {waits.map((line) => (
          <li key={line}>{shown(line)}</li>
        ))}
      </ul>
    </Banner>
  )
}

function RecoveryBanner({ recovery }: { readonly recovery: RecoveryLine }) {
  const { t } = useTranslation()
  const { kind, ripeAt } = recovery
  return (
    <Banner tone="warn" title={t(`console.account.recovery.${kind}`)}>
      <BegunBy of={recovery} />
      <p>
        {ripeAt === null ? (
          t('console.account.recovery.unconfirmed')
        ) : (
          <>
            {t('console.account.recovery.ripe')} <Moment at={ripeAt} />
          </>
        )}
      </p>
    </Banner>
  )
}

function BegunBy({ of }: { readonly of: ClosingLine | RecoveryLine }): ReactNode {
  const { t } = useTranslation()
  return (
    <p>
      {t(`console.account.begunBy.${of.begunBy}`)} <Moment at={of.begunAt} />
    </p>
  )
}
