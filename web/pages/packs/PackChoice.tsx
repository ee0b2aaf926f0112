// The packs as cards, one of which is chosen. They are native radio buttons, so arrow keys and
// screen readers work.
import { useTranslation } from 'react-i18next'
import type { Pack } from '../../../src/cabinet/contract/contract.ts'
import { useFormat } from '../../format/use-format.ts'
import { Price } from '../../ui/amounts.tsx'
import { classes } from '../../ui/classes.ts'
import { UnitPrice } from './UnitPrice.tsx'

export const cardClasses =
  'relative flex cursor-pointer gap-3 rounded-box border bg-sheet p-4 transition-colors ' +
  'hover:border-ink has-checked:border-accent has-checked:bg-tint has-checked:ring-1 ' +
  'has-checked:ring-accent has-focus-visible:outline-2 has-focus-visible:outline-offset-2 ' +
  'has-focus-visible:outline-accent has-disabled:cursor-default has-disabled:opacity-60'

export function PackChoice(props: {
  readonly packs: readonly Pack[]
  readonly chosen: string | undefined
  readonly onChoose: (pack: string) => void
}) {
  const { packs, chosen, onChoose } = props
  const { t } = useTranslation()
  return (
    <fieldset className="min-w-0">
      <legend className="mb-3 font-serif text-lg font-semibold">{t('packs.choose')}</legend>
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {packs.map((pack) => (
          <PackCard
            key={pack.id}
            pack={pack}
            isChosen={pack.id === chosen}
            onChoose={() => onChoose(pack.id)}
          />
        ))}
      </div>
    </fieldset>
  )
}

function PackCard(props: {
  readonly pack: Pack
  readonly isChosen: boolean
  readonly onChoose: () => void
}) {
  const { pack, isChosen, onChoose } = props
  const format = useFormat()
  return (
    <label className={classes(cardClasses, 'border-edge')}>
      <input
        type="radio"
        name="pack"
        value={pack.id}
        checked={isChosen}
        disabled={pack.methods.length === 0}
        onChange={onChoose}
        className="mt-1.5 size-5 shrink-0 accent-accent outline-none"
      />
      <span className="grid min-w-0 flex-1 content-start gap-1">
        <span className="font-serif text-2xl leading-tight font-semibold">
          {format.creditsShort(pack.credits)}
          <span className="sr-only">, </span>
        </span>
        <span className="text-lg font-medium">
          <Price kopecks={pack.priceKopecks} />
          <span className="sr-only">, </span>
        </span>
        <UnitPrice pack={pack} />
      </span>
    </label>
  )
}
