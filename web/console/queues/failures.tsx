// What a machine could not do by itself: charges that the database refused, e-mails that the relay
// refused. Both are tried again; a person looks why.
import { useTranslation } from 'react-i18next'
import type { Queues } from '../../../src/operator/console/contract/queues.ts'
import { Credits, Moment } from '../../ui/amounts.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'
import { ActionButton, type OpenAction } from './ActionButton.tsx'
import { Queue } from './Queue.tsx'

export function Quarantine(props: Pick<Queues, 'quarantine'> & { readonly act: OpenAction }) {
  const { t } = useTranslation()
  const { quarantine, act } = props
  return (
    <Panel
      title={t('console.queues.quarantine', { number: quarantine.length })}
      hint={t('console.queues.quarantineHint')}
    >
      <Queue
        rows={quarantine.map(({ request, reason, priced }) => ({
          ...{ id: request, title: reason, badge: null, text: null, at: null },
          actions: (
            <>
              <ActionButton name="quarantineRetry" subject={request} act={act} />
              <ActionButton name="quarantineWriteOff" subject={request} act={act} />
            </>
          ),
          amount: <Credits value={priced} />,
          link: (
            <TextLink to={paths.request} params={{ id: request }}>
              {request}
            </TextLink>
          ),
        }))}
      />
    </Panel>
  )
}

export function Letters(props: Pick<Queues, 'letters'> & { readonly act: OpenAction }) {
  const { t } = useTranslation()
  const { letters, act } = props
  return (
    <Panel
      title={t('console.queues.letters', { number: letters.length })}
      hint={t('console.queues.lettersHint')}
    >
      <Queue
        rows={letters.map(({ id, kind, recipient, state, error, postedAt }) => ({
          ...{ id, title: recipient, text: error, amount: null },
          actions:
            state === 'queued' ? <ActionButton name="letterRetry" subject={id} act={act} /> : null,
          badge: (
            <Badge tone={state === 'failed' ? 'bad' : 'warn'}>
              {t(`console.account.letterState.${state}`)}
            </Badge>
          ),
          at: <Moment at={postedAt} isAgo />,
          link: (
            <TextLink to={paths.search} search={{ text: recipient }}>
              {kind}
            </TextLink>
          ),
        }))}
      />
    </Panel>
  )
}
