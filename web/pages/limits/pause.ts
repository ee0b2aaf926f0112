// The two clicks that stop requests and let them through again, wherever their buttons are. The
// answer is shown at once on every page that knows of it.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '../../runtime/api.ts'
import { guardsAsk, homeAsk } from '../../runtime/asks.ts'
import { useErrorToast, useToast } from '../../ui/Toasts.tsx'

const routes = {
  suspend: 'POST /api/guards/suspend',
  resume: 'POST /api/guards/resume',
} as const

export function usePause(act: keyof typeof routes) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const toast = useToast()
  const showError = useErrorToast()
  return useMutation({
    mutationFn: () => call(routes[act]),
    onSuccess: async (guards) => {
      client.setQueryData(guardsAsk.queryKey, guards)
      client.setQueryData(homeAsk.queryKey, (home) =>
        home === undefined ? undefined : { ...home, blocked: guards.blocked },
      )
      toast(t(act === 'suspend' ? 'limits.pause.paused' : 'limits.pause.resumed'))
      await client.invalidateQueries({ queryKey: homeAsk.queryKey })
    },
    onError: showError,
  })
}
