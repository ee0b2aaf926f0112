// The fiscal receipts of an order: what each is for, its numbers, and how to check it.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Receipt } from '../../../src/cabinet/contract/contract.ts'
import { Moment, Rubles } from '../../ui/amounts.tsx'
import { Button } from '../../ui/Button.tsx'
import { Badge, Facts, Panel } from '../../ui/parts.tsx'
import { QrCode } from '../../ui/QrCode.tsx'
import { TextAnchor } from '../../ui/TextLink.tsx'

export function Receipts({ receipts }: { readonly receipts: readonly Receipt[] }) {
  const { t } = useTranslation()
  if (receipts.length === 0) return null
  return (
    <Panel title={t('receipts.title')}>
      <ul className="grid gap-6">
        {receipts.map((receipt) => (
          <li key={receipt.id} className="grid gap-3">
            <Line receipt={receipt} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Line({ receipt }: { readonly receipt: Receipt }) {
  const { t } = useTranslation()
  const { kind, state, amountKopecks, usedUntil, fiscal } = receipt
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="min-w-0">
          <strong>{t(`receipts.kinds.${kind}`)}</strong>{' '}
          {usedUntil !== null && (
            <span className="text-soft">
              {t('receipts.until')} <Moment at={usedUntil} />
            </span>
          )}
        </p>
        <p className="flex items-center gap-3">
          <Badge tone={state === 'waiting' ? 'warn' : 'good'}>
            {t(`receipts.states.${state}`)}
          </Badge>
          <Rubles kopecks={amountKopecks} />
        </p>
      </div>
      {fiscal !== null && <Numbers fiscal={fiscal} />}
    </>
  )
}

function Numbers({ fiscal }: { readonly fiscal: NonNullable<Receipt['fiscal']> }) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const number = (value: string) => <code className="break-all">{value}</code>
  return (
    <>
      <Facts
        facts={[
          { name: t('receipts.document'), value: number(fiscal.document) },
          { name: t('receipts.storage'), value: number(fiscal.storage) },
          { name: t('receipts.sign'), value: number(fiscal.sign) },
          { name: t('receipts.registeredAt'), value: <Moment at={fiscal.registeredAt} /> },
        ]}
      />
      <div className="flex flex-wrap items-center gap-3">
        <Button isSmall onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
          {t(isOpen ? 'receipts.hideQr' : 'receipts.showQr')}
        </Button>
        {fiscal.url !== null && (
          <TextAnchor href={fiscal.url} target="_blank" rel="noreferrer">
            {t('receipts.check')}
          </TextAnchor>
        )}
      </div>
      {isOpen && <QrCode text={fiscal.qr} label={t('receipts.qr')} />}
    </>
  )
}
