// A banner on every page while the account is being closed: why nothing can be bought, and where
// its steps are.
import { useLocation } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { paths } from '../paths.ts'
import { useMe } from '../runtime/session.ts'
import { Banner } from '../ui/Banner.tsx'
import { ButtonLink } from '../ui/Button.tsx'

export function ClosingBanner() {
  const { t } = useTranslation()
  const { isClosing } = useMe()
  const { pathname } = useLocation()
  if (!isClosing || pathname === paths.privacy) return null
  return (
    <div className="mb-6">
      <Banner
        tone="warn"
        title={t('closing.processTitle')}
        actions={
          <ButtonLink to={paths.privacy} isSmall>
            {t('closing.bannerAction')}
          </ButtonLink>
        }
      >
        {t('closing.bannerText')}
      </Banner>
    </div>
  )
}
