// Lists the owner's sessions and revokes them.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SessionLine } from '../../src/cabinet/contract/contract.ts'
import { call } from '../runtime/api.ts'
import { meQuery, sessionsQuery } from '../runtime/queries.ts'
import { Moment } from '../ui/amounts.tsx'
import { Button } from '../ui/Button.tsx'
import { ConfirmDialog } from '../ui/dialog/Dialog.tsx'
import { Badge, Panel } from '../ui/parts.tsx'
import { QueryView } from '../ui/QueryView.tsx'
import { type Column, Table } from '../ui/Table.tsx'
import { useErrorToast, useToast } from '../ui/Toasts.tsx'

export function SessionsPanel() {
  const { t } = useTranslation()
  const query = useQuery(sessionsQuery)
  const count = query.data?.sessions.length ?? 0
  return (
    <Panel
      title={t('security.sessions')}
      hint={t('security.sessionsHint')}
      actions={count > 1 && <RevokeOthers />}
    >
      <QueryView query={query}>{({ sessions }) => <Sessions sessions={sessions} />}</QueryView>
    </Panel>
  )
}

function Sessions({ sessions }: { readonly sessions: readonly SessionLine[] }) {
  const { t } = useTranslation()
  const columns: Column<SessionLine>[] = [
    {
      id: 'device',
      label: t('security.device'),
      isTitle: true,
      cell: (one) => (
        <span className="flex flex-wrap items-center gap-2">
          {one.device === '' ? t('security.deviceUnknown') : one.device}
          {one.isCurrent && <Badge tone="good">{t('security.current')}</Badge>}
        </span>
      ),
    },
    {
      id: 'address',
      label: t('security.address'),
      cell: (one) => <span className="wrap-break-word">{one.address}</span>,
    },
    {
      id: 'seen',
      label: t('security.lastSeen'),
      cell: (one) => <Moment at={one.lastSeenAt} isAgo />,
    },
    {
      id: 'end',
      label: t('security.revoke'),
      isUnlabelled: true,
      cell: (one) => !one.isCurrent && <Revoke session={one} />,
    },
  ]
  return (
    <Table
      caption={t('security.sessions')}
      columns={columns}
      rows={sessions.toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent))}
      rowId={(one) => one.id}
    />
  )
}

function Revoke({ session }: { readonly session: SessionLine }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const showError = useErrorToast()
  const revoke = useMutation({
    mutationFn: () => call('POST /api/sessions/:id/revoke', { params: { id: session.id } }),
    onSuccess: async (answer) => {
      client.setQueryData(sessionsQuery.queryKey, answer)
      await client.invalidateQueries({ queryKey: meQuery.queryKey })
    },
    onError: showError,
  })
  return (
    <Button
      isSmall
      aria-label={t('security.revokeOf', { device: session.device })}
      isPending={revoke.isPending}
      onClick={() => revoke.mutate()}
    >
      {t('security.revoke')}
    </Button>
  )
}

function RevokeOthers() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const toast = useToast()
  const showError = useErrorToast()
  const [isConfirming, setConfirming] = useState(false)
  const revoke = useMutation({
    mutationFn: () => call('POST /api/sessions/revoke-others'),
    onSuccess: async ({ revoked }) => {
      await client.invalidateQueries({ queryKey: sessionsQuery.queryKey })
      setConfirming(false)
      toast(t('security.othersRevoked', { count: revoked }))
    },
    onError: showError,
  })
  return (
    <>
      <Button isSmall onClick={() => setConfirming(true)}>
        {t('security.revokeOthers')}
      </Button>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t('security.revokeOthersTitle')}
        text={t('security.revokeOthersText')}
        confirm={t('security.revokeOthers')}
        isPending={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      />
    </>
  )
}
