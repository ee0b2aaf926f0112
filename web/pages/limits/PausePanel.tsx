// Shows whether requests are served now, with a button that pauses or resumes them.
import { useQuery } from '@tanstack/react-query'
import { Pause, Play } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Guards } from '../../../src/cabinet/contract/guards.ts'
import { paths } from '../../paths.ts'
import { brandQuery, homeQuery } from '../../runtime/queries.ts'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { usePause } from './pause.ts'

const states = {
  operator_blocked: 'blocked',
  owner_suspended: 'suspended',
  velocity_stopped: 'stopped',
} as const

export function PausePanel({ guards }: { readonly guards: Guards }) {
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandQuery)
  // Live updates write into the overview's query, so a stop appears here without a reload.
  const { data: home } = useQuery(homeQuery)
  const suspend = usePause('suspend')
  const resume = usePause('resume')
  const blocked = home === undefined ? guards.blocked : home.blocked
  const state = blocked === null ? 'served' : states[blocked]
  return (
    <Panel
      title={t('limits.pause.title')}
      actions={
        <Badge tone={blocked === null ? 'good' : 'bad'}>{t(`limits.pause.state.${state}`)}</Badge>
      }
    >
      <div role="status" className="grid gap-4">
        <p className="max-w-prose text-soft">
          {t(`limits.pause.text.${state}`, { email: brand?.supportEmail ?? '' })}
        </p>
        <div className="flex flex-wrap gap-3 empty:hidden">
          {state === 'served' && (
            <Button icon={Pause} isPending={suspend.isPending} onClick={() => suspend.mutate()}>
              {t('limits.pause.suspend')}
            </Button>
          )}
          {(state === 'suspended' || state === 'stopped') && (
            <Button
              tone="main"
              icon={Play}
              isPending={resume.isPending}
              onClick={() => resume.mutate()}
            >
              {t('limits.pause.resume')}
            </Button>
          )}
          {state === 'stopped' && (
            <ButtonLink to={paths.key}>{t('limits.pause.reissue')}</ButtonLink>
          )}
        </div>
      </div>
    </Panel>
  )
}
