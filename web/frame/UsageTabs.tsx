// The tabs of the pages about usage.
import { useTranslation } from 'react-i18next'
import { paths } from '../paths.ts'
import { TabLinks } from '../ui/Tabs.tsx'

export function UsageTabs() {
  const { t } = useTranslation()
  return (
    <TabLinks
      label={t('sessions.tabs')}
      links={[
        { to: paths.usage, label: t('sessions.usageTab') },
        { to: paths.sessions, label: t('sessions.tab') },
      ]}
    />
  )
}
