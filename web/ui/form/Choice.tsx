// A choice of one option as a row of buttons that wraps. They are native radio buttons, so arrow
// keys and screen readers work.
import { useId } from 'react'
import { classes } from '../classes.ts'

export function Choice<Value extends string>(props: {
  readonly label: string
  readonly value: Value
  readonly options: readonly { readonly value: Value; readonly label: string }[]
  readonly onChange: (value: Value) => void
  readonly isSmall?: boolean
}) {
  const { label, value, options, onChange, isSmall = false } = props
  const name = useId()
  return (
    <fieldset className="min-w-0">
      <legend className="sr-only">{label}</legend>
      <div className="flex flex-wrap gap-2">
        {options.map((option) => (
          <label
            key={option.value}
            className={classes(
              'relative inline-flex cursor-pointer items-center rounded-part border border-edge',
              'bg-sheet px-3 font-medium transition-colors select-none hover:border-ink',
              'has-checked:border-accent has-checked:bg-tint has-checked:text-accent-deep',
              'has-focus-visible:outline-2 has-focus-visible:outline-offset-2',
              'has-focus-visible:outline-accent',
              isSmall ? 'min-h-9 text-sm pointer-coarse:min-h-11' : 'min-h-11',
            )}
          >
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
              className="absolute inset-0 cursor-pointer opacity-0"
            />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
