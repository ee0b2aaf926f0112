// The ways to pay an order: a link to the provider's page, or a QR code of SBP. A phone cannot scan
// its own screen, so there a button opens the bank, and the code is folded away.
import { ExternalLink, Smartphone } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import type { Order } from '../../../src/cabinet/contract/contract.ts'
import { PHONE, useMedia } from '../../runtime/media.ts'
import { ButtonAnchor } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/parts.tsx'
import { TextAnchor } from '../../ui/TextLink.tsx'
import { hasOpenedPaymentPage, paymentUrl, rememberPaymentPage } from './payment-page.ts'

const QrCode = lazy(async () => ({ default: (await import('../../ui/QrCode.tsx')).QrCode }))

/** A button among the order's actions that leads to the provider's page. */
export function PayLink({ order }: { readonly order: Order }) {
  const { t } = useTranslation()
  const { id, confirmation } = order
  const address = paymentUrl(confirmation)
  if (confirmation?.kind !== 'redirect' || address === undefined) return null
  const hasOpened = hasOpenedPaymentPage(id)
  return (
    <ButtonAnchor
      href={address}
      onClick={() => rememberPaymentPage(id)}
      tone={hasOpened ? 'plain' : 'main'}
      icon={ExternalLink}
    >
      {hasOpened ? t('order.payAgain') : t('order.pay')}
    </ButtonAnchor>
  )
}

export function SbpCode({ order }: { readonly order: Order }) {
  const { t } = useTranslation()
  const { id, confirmation } = order
  const isPhone = useMedia(PHONE)
  const address = paymentUrl(confirmation)
  if (confirmation?.kind !== 'qr') return null
  const picture = (
    <figure className="flex flex-wrap items-center gap-x-6 gap-y-2">
      <Suspense fallback={<Skeleton lines={4} />}>
        <QrCode text={confirmation.value} label={t('order.qr')} />
      </Suspense>
      <figcaption className="max-w-52 text-sm text-soft">{t('order.qrText')}</figcaption>
    </figure>
  )
  if (!isPhone) {
    return (
      <div className="grid gap-3">
        {picture}
        {address !== undefined && (
          <p>
            <TextAnchor href={address} rel="noreferrer" onClick={() => rememberPaymentPage(id)}>
              {t('order.qrLink')}
            </TextAnchor>
          </p>
        )}
      </div>
    )
  }
  return (
    <div className="grid w-full gap-4">
      {address !== undefined && (
        <ButtonAnchor
          href={address}
          onClick={() => rememberPaymentPage(id)}
          tone="main"
          isWide
          icon={Smartphone}
        >
          {t('order.bank')}
        </ButtonAnchor>
      )}
      <details>
        <summary className="py-1 text-accent">{t('order.qrShow')}</summary>
        <div className="mt-3">{picture}</div>
      </details>
    </div>
  )
}
