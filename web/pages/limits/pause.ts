// The mutation that pauses or resumes requests, for buttons on any page. It writes the answer into
// the cached queries of the pages that show the state.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '../../runtime/api.ts'
import { guardsQuery, homeQuery } from '../../runtime/queries.ts'
import { useErrorToast, useToast } from '../../ui/Toasts.tsx'

const routes = {
  suspend: 'POST /api/guards/suspend',
  resume: 'POST /api/guards/resume',
} as const

export function usePause(action: keyof typeof routes) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const toast = useToast()
  const showError = useErrorToast()
  return useMutation({
    mutationFn: () => call(routes[action]),
    onSuccess: async (guards) => {
      client.setQueryData(guardsQuery.queryKey, guards)
      client.setQueryData(homeQuery.queryKey, (home) =>
        home === undefined ? undefined : { ...home, blocked: guards.blocked },
      )
      toast(t(action === 'suspend' ? 'limits.pause.paused' : 'limits.pause.resumed'))
      await client.invalidateQueries({ queryKey: homeQuery.queryKey })
    },
    onError: showError,
  })
}
