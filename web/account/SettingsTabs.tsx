// The tabs of the settings pages.
import { useTranslation } from 'react-i18next'
import { paths } from '../paths.ts'
import { TabLinks } from '../ui/Tabs.tsx'

export function SettingsTabs() {
  const { t } = useTranslation()
  return (
    <TabLinks
      label={t('nav.settings')}
      links={[
        { to: paths.settings, label: t('settings.profile') },
        { to: paths.security, label: t('settings.security') },
        { to: paths.limits, label: t('settings.limits') },
        { to: paths.privacy, label: t('settings.privacy') },
      ]}
    />
  )
}
