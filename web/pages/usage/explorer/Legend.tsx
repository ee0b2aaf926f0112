// The legend: the colour, name and figure of each series. A click hides a series and shows it
// again.
import { useTranslation } from 'react-i18next'
import { classes } from '../../../ui/classes.ts'
import type { Measure } from './metrics.ts'
import type { Plot } from './plot.ts'
import { Swatch } from './Swatch.tsx'

export function Legend(props: {
  readonly measure: Measure
  readonly plot: Plot
  /** The bucket that is pointed at; undefined: the whole period. */
  readonly index: number | undefined
  readonly patternsId: string
  readonly isPlain: boolean
  readonly onToggle: (id: string) => void
}) {
  const { measure, plot, index, patternsId, isPlain, onToggle } = props
  const { t } = useTranslation()
  return (
    <ul
      aria-label={t('usage.explorer.legend')}
      className="grid gap-x-6 gap-y-0.5 sm:grid-cols-2 lg:grid-cols-3"
    >
      {plot.series.map(({ id, name, slot, isHidden }, line) => (
        <li key={id} className="min-w-0">
          <button
            type="button"
            aria-pressed={!isHidden}
            onClick={() => onToggle(id)}
            className={classes(
              'flex min-h-9 w-full min-w-0 items-center gap-2 rounded-part text-start text-sm',
              'hover:bg-tint pointer-coarse:min-h-11',
              isHidden && 'text-soft line-through',
            )}
          >
            <span className={classes(isHidden && 'opacity-40')}>
              <Swatch id={patternsId} slot={slot} isPlain={isPlain} />
            </span>
            <span data-name className="min-w-0 wrap-anywhere">
              {name}
            </span>
            <span aria-hidden className="leader" />
            <span data-figure className="figures whitespace-nowrap">
              {isHidden ? '' : measure.short(plot.unitsOf(line, index))}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}
