// Requests above a limit: another person looks at the plan and lets it run, or declines it. Whoever
// asked can only take the request back.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Approval } from '../../../src/operator/console/contract/contract.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Button } from '../../ui/Button.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { useLines } from '../command/use-lines.ts'
import { approvalsQuery } from '../queries.ts'
import type { OpenAction } from './ActionButton.tsx'
import { Queue } from './Queue.tsx'

/** Interrupted: approved, but its process died; a person looks what it did, and closes it. */
const OPEN = ['waiting', 'interrupted']

export function Approvals(props: { readonly act: OpenAction }) {
  const { t } = useTranslation()
  const shown = useLines()
  return (
    <QueryView query={useQuery(approvalsQuery)}>
      {({ approvals }) => {
        const waiting = approvals.filter(({ state }) => OPEN.includes(state))
        return (
          <Panel
            title={t('console.queues.approvals', { number: waiting.length })}
            hint={t('console.queues.approvalsHint')}
          >
            <Queue rows={waiting.map((one) => rowOf(one))} />
          </Panel>
        )
      }}
    </QueryView>
  )

  function rowOf({ id, by, state, isOwn, command, plan, askedAt, endsAt }: Approval) {
    const isInterrupted = state === 'interrupted'
    return {
      id,
      title: by,
      badge: isInterrupted ? (
        <Badge tone="bad">{t('console.queues.interrupted')}</Badge>
      ) : isOwn ? (
        <Badge>{t('console.queues.own')}</Badge>
      ) : null,
      amount: null,
      text: (
        <span className="grid gap-1">
          <code className="font-mono">{command}</code>
          <span className="whitespace-pre-line">{plan.map(shown).join('\n')}</span>
          {isInterrupted ? (
            <span>{t('console.queues.interruptedHint')}</span>
          ) : (
            <span>
              {t('console.queues.until')} <Moment at={endsAt} />
            </span>
          )}
        </span>
      ),
      at: <Moment at={askedAt} isAgo />,
      link: null,
      actions: (
        <>
          {!isOwn && !isInterrupted && (
            <Button isSmall tone="main" onClick={() => props.act('approve', id)}>
              {t('console.command.approve.button')}
            </Button>
          )}
          <Button isSmall onClick={() => props.act('decline', id)}>
            {t(endWord(isOwn, isInterrupted))}
          </Button>
        </>
      ),
    }
  }
}

function endWord(isOwn: boolean, isInterrupted: boolean) {
  if (isInterrupted) return 'console.queues.close'
  return isOwn ? 'console.queues.takeBack' : 'console.command.decline.button'
}
