// Everything about one account on one page, and the actions with a reason that the person's role
// may take. Each act shows its plan before it is done.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Account as AccountView } from '../../../src/operator/console/contract/contract.ts'
import { Credits, Moment } from '../../ui/amounts.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { Badge, Facts, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { ActList } from '../acts/ActList.tsx'
import { type ActionName, actions } from '../command/actions.ts'
import { CommandDialog } from '../command/Command.tsx'
import { accountQuery } from '../queries.ts'
import { useMay } from '../use-me.ts'
import { Endings } from './Endings.tsx'
import { Keys, Letters, Mandate, Refused, Sessions } from './lists.tsx'
import { Orders } from './Orders.tsx'
import { Statement } from './Statement.tsx'

export function Account() {
  const { t } = useTranslation()
  const { book } = useParams({ from: '/staff/accounts/$book' })
  const account = useQuery(accountQuery(book))
  const email = account.data?.owner?.email
  return (
    <Page
      title={email ?? t('console.account.book', { book })}
      lead={email === undefined ? undefined : t('console.account.book', { book })}
      actions={account.data === undefined ? undefined : <Actions account={account.data} />}
    >
      <QueryView query={account} lines={10}>
        {(found) => <Parts account={found} />}
      </QueryView>
    </Page>
  )
}

function Parts({ account }: { readonly account: AccountView }) {
  const { t } = useTranslation()
  const may = useMay()
  return (
    <div className="grid gap-6">
      <Stop account={account} />
      <Endings account={account} />
      <div className="grid gap-6 lg:grid-cols-2">
        <Balance account={account} />
        <Guards account={account} />
      </div>
      <Statement book={account.book} />
      <Orders orders={account.orders} refunds={account.refunds} />
      <div className="grid gap-6 lg:grid-cols-2">
        <Keys keys={account.keys} />
        <Mandate mandate={account.mandate} />
      </div>
      <Sessions sessions={account.sessions} />
      <div className="grid gap-6 lg:grid-cols-2">
        <Letters letters={account.letters} />
        <Refused refused={account.refused} />
      </div>
      {may('acts.read') && (
        <Panel title={t('console.account.acts')}>
          <ActList acts={account.acts} />
        </Panel>
      )}
    </div>
  )
}

/** The buttons of what the role may do now. */
function Actions({ account }: { readonly account: AccountView }) {
  const { t } = useTranslation()
  const may = useMay()
  const [open, setOpen] = useState<ActionName>()
  const offered = offeredOf(account)
  return (
    <>
      {offered
        .filter((name) => may(actions[name].permission))
        .map((name) => (
          <Button key={name} isSmall onClick={() => setOpen(name)}>
            {t(`console.command.${name}.button`)}
          </Button>
        ))}
      {open !== undefined && (
        <CommandDialog
          action={actions[open]}
          subject={account.book}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}

/** What the desk does not refuse at once. */
function offeredOf({ stop, keys, owner, closing, recovery }: AccountView): readonly ActionName[] {
  if (owner !== null && owner.closedAt !== null) return ['erase']
  const isOpen = closing === null
  return [
    ...(isOpen ? (['grant', 'adjust'] as const) : []),
    ...(keys.length > 0 ? (['revoke'] as const) : []),
    stop === 'operator_blocked' ? 'unsuspend' : 'suspend',
    ...(owner === null ? [] : (['unlock'] as const)),
    ...(recovery === null ? [] : (['recoverStop'] as const)),
    ...(owner !== null && isOpen ? (['close'] as const) : []),
  ]
}

function Stop({ account }: { readonly account: AccountView }) {
  const { t } = useTranslation()
  const { stop, stopBeneath, owner, closing } = account
  if (owner?.closedAt) {
    return <Banner tone="warn">{t('console.account.closed')}</Banner>
  }
  // The closing has stopped it, as its own banner says.
  if (closing !== null && stop === 'owner_suspended') return null
  if (stop === null) return null
  return (
    <Banner tone={stop === 'operator_blocked' ? 'bad' : 'warn'}>
      {t(`console.account.stop.${stop}`)}
      {stopBeneath !== null && ` ${t(`console.account.beneath.${stopBeneath}`)}`}
    </Banner>
  )
}

function Balance({ account }: { readonly account: AccountView }) {
  const { t } = useTranslation()
  const { owner } = account
  return (
    <Panel title={t('console.account.balance')}>
      <div className="grid gap-4">
        <p className="font-serif text-3xl font-semibold">
          <Credits value={account.available} />
        </p>
        <Facts
          facts={[
            { name: t('console.account.held'), value: <Credits value={account.held} /> },
            { name: t('console.account.debt'), value: <Credits value={account.debt} /> },
            {
              name: t('console.account.spent30Days'),
              value: <Credits value={account.spent30Days} />,
            },
            {
              name: t('console.account.spentTotal'),
              value: <Credits value={account.spentTotal} />,
            },
            {
              name: t('console.account.requests'),
              value: t('console.account.requestsValue', {
                all: account.requests,
                today: account.requestsToday,
              }),
            },
            {
              name: t('console.account.since'),
              value: owner === null ? t('console.none') : <Moment at={owner.createdAt} />,
            },
          ]}
        />
      </div>
    </Panel>
  )
}

function Guards({ account }: { readonly account: AccountView }) {
  const { t } = useTranslation()
  const { guards, owner } = account
  const none = t('console.account.noLimit')
  return (
    <Panel
      title={t('console.account.guards')}
      actions={
        owner?.hasSecondFactor === true ? (
          <Badge tone="good">{t('console.account.secondFactor')}</Badge>
        ) : undefined
      }
    >
      <Facts
        facts={[
          {
            name: t('console.account.dayLimit'),
            value: guards.dayLimit === null ? none : <Credits value={guards.dayLimit} />,
          },
          { name: t('console.account.daySpent'), value: <Credits value={guards.daySpent} /> },
          {
            name: t('console.account.velocity'),
            value:
              guards.velocityLimit === null ? (
                none
              ) : (
                <span>
                  <Credits value={guards.velocityLimit} />{' '}
                  {t('console.account.perMinutes', {
                    count: Math.round(guards.velocitySeconds / 60),
                  })}
                </span>
              ),
          },
        ]}
      />
    </Panel>
  )
}
