// Where the owner is signed in, and how to end it there.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SessionLine } from '../../src/cabinet/contract/contract.ts'
import { call } from '../runtime/api.ts'
import { meAsk, sessionsAsk } from '../runtime/asks.ts'
import { Asked } from '../ui/Asked.tsx'
import { Moment } from '../ui/amounts.tsx'
import { Button } from '../ui/Button.tsx'
import { ConfirmDialog } from '../ui/dialog/Dialog.tsx'
import { Badge, Panel } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/Table.tsx'
import { useErrorToast, useToast } from '../ui/Toasts.tsx'

export function SessionsPanel() {
  const { t } = useTranslation()
  const query = useQuery(sessionsAsk)
  const count = query.data?.sessions.length ?? 0
  return (
    <Panel
      title={t('security.sessions')}
      hint={t('security.sessionsHint')}
      actions={count > 1 && <RevokeOthers />}
    >
      <Asked query={query}>{({ sessions }) => <Sessions sessions={sessions} />}</Asked>
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
      client.setQueryData(sessionsAsk.queryKey, answer)
      await client.invalidateQueries({ queryKey: meAsk.queryKey })
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
  const [isAsked, setAsked] = useState(false)
  const revoke = useMutation({
    mutationFn: () => call('POST /api/sessions/revoke-others'),
    onSuccess: async ({ revoked }) => {
      await client.invalidateQueries({ queryKey: sessionsAsk.queryKey })
      setAsked(false)
      toast(t('security.othersRevoked', { count: revoked }))
    },
    onError: showError,
  })
  return (
    <>
      <Button isSmall onClick={() => setAsked(true)}>
        {t('security.revokeOthers')}
      </Button>
      <ConfirmDialog
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        title={t('security.revokeOthersTitle')}
        text={t('security.revokeOthersText')}
        confirm={t('security.revokeOthers')}
        isPending={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      />
    </>
  )
}
