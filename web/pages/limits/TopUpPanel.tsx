// Automatic top-up in the limits: whether it is on, and a link to its page.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { paths } from '../../paths.ts'
import { topUpQuery } from '../../runtime/queries.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'

/** Renders nothing if the operator does not offer top-ups. */
export function TopUpPanel() {
  const { t } = useTranslation()
  const { data: topUp } = useQuery(topUpQuery)
  if (topUp === undefined || !topUp.isOffered) return null
  const isOn = topUp.mandate?.ended === null
  return (
    <Panel
      title={t('topUp.title')}
      hint={t('topUp.hint')}
      actions={<Badge tone={isOn ? 'good' : 'note'}>{t(isOn ? 'topUp.on' : 'topUp.off')}</Badge>}
    >
      <ButtonLink to={paths.topUp}>{t('topUp.open')}</ButtonLink>
    </Panel>
  )
}
