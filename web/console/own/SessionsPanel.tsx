// One's own sessions, in browsers and terminals, and ending all but this one.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OwnSession } from '../../../src/operator/console/contract/own.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/dialog/Dialog.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { Table } from '../../ui/Table.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { call } from '../call.ts'
import { ownQuery } from '../queries.ts'

export function SessionsPanel({ sessions }: { readonly sessions: readonly OwnSession[] }) {
  const { t } = useTranslation()
  return (
    <Panel
      title={t('console.own.sessions')}
      hint={t('console.own.sessionsHint')}
      actions={sessions.length > 1 && <EndOthers />}
    >
      <Table
        caption={t('console.own.sessions')}
        columns={[
          {
            id: 'device',
            label: t('console.own.device'),
            isTitle: true,
            cell: ({ kind, agent, isCurrent }: OwnSession) => (
              <span className="grid gap-1">
                <span className="flex flex-wrap items-center gap-2">
                  {t(`console.own.${kind}`)}
                  {isCurrent && <Badge tone="good">{t('console.own.current')}</Badge>}
                </span>
                <span className="line-clamp-2 text-sm font-normal text-soft wrap-anywhere">
                  {agent}
                </span>
              </span>
            ),
          },
          {
            id: 'address',
            label: t('console.own.address'),
            cell: ({ address }) => <span className="md:whitespace-nowrap">{address}</span>,
          },
          {
            id: 'seen',
            label: t('console.own.seenAt'),
            cell: ({ seenAt }) => <Moment at={seenAt} isAgo />,
          },
        ]}
        rows={sessions.toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent))}
        rowId={({ id }) => id}
      />
    </Panel>
  )
}

function EndOthers() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const toast = useToast()
  const errorText = useErrorText()
  const [isAsked, setAsked] = useState(false)
  const end = useMutation({
    mutationFn: () => call('POST /api/own/sessions/end-others'),
    onSuccess(own) {
      client.setQueryData(ownQuery.queryKey, own)
      setAsked(false)
      toast(t('console.own.ended'))
    },
  })
  return (
    <>
      <Button isSmall onClick={() => setAsked(true)}>
        {t('console.own.endOthers')}
      </Button>
      <ConfirmDialog
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        title={t('console.own.endTitle')}
        text={t('console.own.endText')}
        confirm={t('console.own.endOthers')}
        isPending={end.isPending}
        error={end.isError ? errorText(end.error) : undefined}
        onConfirm={() => end.mutate()}
      />
    </>
  )
}
