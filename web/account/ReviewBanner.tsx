// A banner on every page after a password reset, until the owner has reviewed passkeys and keys.
import { useLocation } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { paths } from '../paths.ts'
import { useMe } from '../runtime/session.ts'
import { Banner } from '../ui/Banner.tsx'
import { ButtonLink } from '../ui/Button.tsx'

export function ReviewBanner() {
  const { t } = useTranslation()
  const { resetAt } = useMe()
  const { pathname } = useLocation()
  if (resetAt === null || pathname === paths.review) return null
  return (
    <div className="mb-6">
      <Banner
        tone="warn"
        title={t('review.bannerTitle')}
        actions={
          <ButtonLink to={paths.review} isSmall>
            {t('review.bannerAction')}
          </ButtonLink>
        }
      >
        {t('review.bannerText')}
      </Banner>
    </div>
  )
}
