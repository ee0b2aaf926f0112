// Reissue and revoke: each names in a dialog what will stop working before it acts.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { RotateCcwKey, ShieldAlert } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '../../runtime/api.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { keyQuery } from '../../runtime/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/dialog/Dialog.tsx'
import { Panel } from '../../ui/parts.tsx'
import { useToast } from '../../ui/Toasts.tsx'

export function KeyActions(props: {
  readonly onReissue: () => Promise<boolean>
  readonly isIssuing: boolean
  readonly issueError: unknown
}) {
  const { onReissue, isIssuing, issueError } = props
  const { t } = useTranslation()
  const errorText = useErrorText()
  const [dialog, setDialog] = useState<'reissue' | 'revoke'>()
  const close = () => setDialog(undefined)
  const revoke = useRevoke(close)
  const issueProblem = issueError === undefined ? undefined : errorText(issueError)
  const revokeProblem = revoke.error === null ? undefined : errorText(revoke.error)
  return (
    <Panel title={t('key.trouble')}>
      <div className="grid gap-4">
        <ActionRow
          hint={t('key.reissueHint')}
          button={
            <Button icon={RotateCcwKey} onClick={() => setDialog('reissue')}>
              {t('key.reissue')}
            </Button>
          }
        />
        <ActionRow
          hint={t('key.revokeHint')}
          button={
            <Button icon={ShieldAlert} tone="danger" onClick={() => setDialog('revoke')}>
              {t('key.revoke')}
            </Button>
          }
        />
      </div>
      <ConfirmDialog
        isOpen={dialog === 'reissue'}
        onClose={close}
        title={t('key.reissueTitle')}
        text={
          <>
            <p>{t('key.reissueText')}</p>
            <p>{t('key.reissueStops')}</p>
            <p>{t('key.reissueKeeps')}</p>
          </>
        }
        confirm={t('key.reissueConfirm')}
        isPending={isIssuing}
        error={issueProblem}
        onConfirm={() => void onReissue().then((isOver) => isOver && close())}
      />
      <ConfirmDialog
        isOpen={dialog === 'revoke'}
        onClose={close}
        title={t('key.revokeTitle')}
        text={
          <>
            <p>{t('key.revokeText')}</p>
            <p>{t('key.reissueStops')}</p>
          </>
        }
        confirm={t('key.revokeConfirm')}
        isPending={revoke.isPending}
        error={revokeProblem}
        onConfirm={() => revoke.mutate()}
      />
    </Panel>
  )
}

function ActionRow({ hint, button }: { readonly hint: string; readonly button: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
      <p className="min-w-0 flex-1 basis-64">{hint}</p>
      {button}
    </div>
  )
}

function useRevoke(onDone: () => void) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: () => call('POST /api/key/revoke'),
    onSuccess: (state) => {
      client.setQueryData(keyQuery.queryKey, state)
      toast(t('key.revoked'))
      onDone()
    },
  })
}
