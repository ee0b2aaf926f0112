// The choice of the payment method: SBP first, because on a phone it takes one tap; then cards.
import { CreditCard, type LucideIcon, Smartphone } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Method } from '../../../src/cabinet/contract/contract.ts'
import { classes } from '../../ui/classes.ts'
import { cardClasses } from './PackChoice.tsx'

const icons: Readonly<Record<Method, LucideIcon>> = { sbp: Smartphone, card: CreditCard }

export function MethodChoice(props: {
  /** All methods, in the order to show. */
  readonly methods: readonly Method[]
  /** The methods that accept the price of the chosen pack. */
  readonly possible: readonly Method[]
  readonly chosen: Method | undefined
  readonly onChoose: (method: Method) => void
}) {
  const { methods, possible, chosen, onChoose } = props
  const { t } = useTranslation()
  return (
    <fieldset className="min-w-0">
      <legend className="mb-3 font-serif text-lg font-semibold">{t('packs.method')}</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        {methods.map((method) => {
          const Icon = icons[method]
          const isPossible = possible.includes(method)
          return (
            <label key={method} className={classes(cardClasses, 'items-center border-edge')}>
              <input
                type="radio"
                name="method"
                value={method}
                checked={method === chosen}
                disabled={!isPossible}
                onChange={() => onChoose(method)}
                className="size-5 shrink-0 accent-accent outline-none"
              />
              <span className="min-w-0 flex-1">
                <span className="block font-medium">{t(`method.${method}`)}</span>
                <span className="block text-sm text-soft">
                  {isPossible ? t(`method.${method}Text`) : t('packs.notForPack')}
                </span>
              </span>
              <Icon aria-hidden className="size-6 shrink-0 text-soft" />
            </label>
          )
        })}
      </div>
    </fieldset>
  )
}
