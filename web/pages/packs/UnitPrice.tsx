// The price of a million credits in a pack, and the saving against the smallest pack.
import { useTranslation } from 'react-i18next'
import type { Pack } from '../../../src/cabinet/contract/contract.ts'
import { useFormat } from '../../format/use-format.ts'
import { Badge } from '../../ui/parts.tsx'

export function UnitPrice({ pack }: { readonly pack: Pack }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <span className="figures text-sm text-soft">
        {t('packs.perMillion', { rubles: format.price(pack.kopecksPerMillion) })}
      </span>
      {pack.savingPercent > 0 && (
        <Badge tone="good">{t('packs.saving', { percent: pack.savingPercent })}</Badge>
      )}
    </span>
  )
}
