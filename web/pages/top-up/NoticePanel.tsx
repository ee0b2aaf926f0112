// Whether the owner gets an e-mail before each charge. The e-mail after it is always sent.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { TopUp } from '../../../src/cabinet/contract/guards.ts'
import { useStepUp } from '../../account/StepUp.tsx'
import { call } from '../../runtime/api.ts'
import { topUpQuery } from '../../runtime/queries.ts'
import { CheckField } from '../../ui/form/Field.tsx'
import { Panel } from '../../ui/parts.tsx'
import { useErrorToast, useToast } from '../../ui/Toasts.tsx'

export function NoticePanel({ topUp }: { readonly topUp: TopUp }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const withStepUp = useStepUp()
  const toast = useToast()
  const showError = useErrorToast()
  const change = useMutation({
    mutationFn: (hasAdvanceNotice: boolean) =>
      withStepUp(() => call('POST /api/top-up/notice', { body: { hasAdvanceNotice } })),
    onSuccess: (answer) => {
      client.setQueryData(topUpQuery.queryKey, answer)
      toast(t(answer.hasAdvanceNotice ? 'topUp.notice.on' : 'topUp.notice.off'))
    },
    onError: showError,
  })
  return (
    <Panel title={t('topUp.notice.title')}>
      <CheckField
        isChecked={change.isPending ? change.variables : topUp.hasAdvanceNotice}
        onChange={(isOn) => change.mutate(isOn)}
        hint={t('topUp.notice.hint')}
      >
        {t('topUp.notice.label', { count: topUp.noticeHours })}
      </CheckField>
    </Panel>
  )
}
