// People who registered or were invited and have not confirmed: what became of the e-mail with the
// link, and what support can do about it.
import { useTranslation } from 'react-i18next'
import type { Queues } from '../../../src/operator/console/contract/queues.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { ActionButton, type OpenAction } from './ActionButton.tsx'
import { Queue } from './Queue.tsx'

type Registration = Queues['registrations'][number]

export function Registrations(props: Pick<Queues, 'registrations'> & { readonly act: OpenAction }) {
  const { t } = useTranslation()
  const { registrations, act } = props
  return (
    <Panel
      title={t('console.queues.registrations', { number: registrations.length })}
      hint={t('console.queues.registrationsHint')}
    >
      <Queue
        rows={registrations.map((one) => ({
          ...{ id: one.id, title: one.email, amount: null, link: null },
          text: one.letter?.error ?? (one.isInvited ? t('console.queues.invited') : null),
          badge: <State registration={one} />,
          at: <Moment at={one.createdAt} isAgo />,
          actions: (
            <>
              <ActionButton name="registrationResend" subject={one.id} act={act} />
              <ActionButton name="registrationDelete" subject={one.id} act={act} />
            </>
          ),
        }))}
      />
    </Panel>
  )
}

function State({ registration: { isExpired, letter } }: { readonly registration: Registration }) {
  const { t } = useTranslation()
  if (letter?.state === 'failed') {
    return <Badge tone="bad">{t('console.account.letterState.failed')}</Badge>
  }
  if (isExpired) return <Badge tone="warn">{t('console.queues.linkExpired')}</Badge>
  if (letter === null) return null
  const isRefused = letter.state === 'queued' && letter.error !== null
  return (
    <Badge tone={isRefused ? 'warn' : 'note'}>
      {t(`console.account.letterState.${letter.state}`)}
    </Badge>
  )
}
