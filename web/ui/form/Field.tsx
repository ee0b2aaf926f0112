// Form fields: a label above, a hint below, and an error linked to the control, so that screen
// readers announce it. Values are text; the form interprets them.
import { ChevronDown, CircleAlert } from 'lucide-react'
import { type InputHTMLAttributes, type ReactNode, type Ref, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { classes } from '../classes.ts'
import { EarlyInput } from './EarlyInput.tsx'

export type FieldProps = {
  readonly label: string
  readonly hint?: ReactNode | undefined
  readonly error?: string | undefined
  readonly isOptional?: boolean | undefined
}

/** Attributes that link a control to its label, hint and error. */
export type ControlAttributes = {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean
}

export const controlClasses =
  'w-full min-h-11 rounded-part border bg-sheet px-3 py-2 text-base text-ink ' +
  'placeholder:text-soft aria-invalid:border-bad border-edge hover:border-ink'

/** Label, hint and error of any field; `children` renders the control with the given attributes. */
export function Field(
  props: FieldProps & {
    readonly children: (attributes: ControlAttributes) => ReactNode
    /** Called with a value that the control got before scripts ran. */
    readonly onEarly?: ((value: string) => void) | undefined
  },
) {
  const { label, hint, error, isOptional, children, onEarly } = props
  const { t } = useTranslation()
  const id = useId()
  const hasHint = hint !== undefined && hint !== ''
  const describedBy = [hasHint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className="grid content-start gap-1.5">
      <label htmlFor={id} className="flex items-baseline justify-between gap-3 font-medium">
        {label}
        {isOptional === true && (
          <span className="text-sm font-normal text-soft">{t('field.optional')}</span>
        )}
      </label>
      {children({
        id,
        'aria-describedby': describedBy === '' ? undefined : describedBy,
        'aria-invalid': error !== undefined,
      })}
      {onEarly !== undefined && <EarlyInput id={id} onFound={({ value }) => onEarly(value)} />}
      {error !== undefined && (
        <p id={`${id}-error`} className="flex items-start gap-1.5 text-sm text-bad">
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <span>{error}</span>
        </p>
      )}
      {hasHint && (
        <p id={`${id}-hint`} className="text-sm text-soft">
          {hint}
        </p>
      )}
    </div>
  )
}

type Native = Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'>

export type TextFieldProps = FieldProps &
  Native & {
    readonly value: string
    readonly onChange: (value: string) => void
    readonly ref?: Ref<HTMLInputElement>
  }

export function TextField(props: TextFieldProps) {
  const { label, hint, error, isOptional, onChange, className, ...native } = props
  return (
    <Field {...{ label, hint, error, isOptional }} onEarly={earlyChange(native.value, onChange)}>
      {(attributes) => (
        <input
          type="text"
          {...native}
          {...attributes}
          onChange={(event) => onChange(event.target.value)}
          className={classes(controlClasses, className)}
        />
      )}
    </Field>
  )
}

/** Calls `onChange` if the control has another value than the one that was rendered. */
export function earlyChange(rendered: string, onChange: (value: string) => void) {
  return (value: string) => {
    if (value !== rendered) onChange(value)
  }
}

/** A native select: phones and screen readers handle it best. */
export function SelectField(
  props: FieldProps & {
    readonly value: string
    readonly onChange: (value: string) => void
    readonly options: readonly { readonly value: string; readonly label: string }[]
    readonly name?: string
  },
) {
  const { label, hint, error, isOptional, value, onChange, options, name } = props
  return (
    <Field {...{ label, hint, error, isOptional }} onEarly={earlyChange(value, onChange)}>
      {(attributes) => (
        <div className="relative">
          <select
            {...attributes}
            name={name}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            className={classes(controlClasses, 'appearance-none pe-10')}
          >
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </select>
          <ChevronDown
            aria-hidden
            className="pointer-events-none absolute end-3 top-1/2 size-4 -translate-y-1/2 text-soft"
          />
        </div>
      )}
    </Field>
  )
}

/** A checkbox with its label beside it and its error below. */
export function CheckField(props: {
  readonly isChecked: boolean
  readonly onChange: (isChecked: boolean) => void
  readonly children: ReactNode
  readonly error?: string | undefined
  readonly hint?: string | undefined
  readonly name?: string
}) {
  const { isChecked, onChange, children, error, hint, name } = props
  const id = useId()
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  const takeEarly = (control: HTMLInputElement | HTMLSelectElement) => {
    const isTicked = control instanceof HTMLInputElement && control.checked
    if (isTicked !== isChecked) onChange(isTicked)
  }
  return (
    <div className="grid gap-1">
      <EarlyInput id={id} onFound={takeEarly} />
      <div className="flex items-start gap-3">
        <input
          id={id}
          type="checkbox"
          name={name}
          checked={isChecked}
          aria-invalid={error !== undefined}
          aria-describedby={describedBy === '' ? undefined : describedBy}
          onChange={(event) => onChange(event.target.checked)}
          className="size-6 shrink-0 accent-accent"
        />
        <label htmlFor={id} className="py-px">
          {children}
        </label>
      </div>
      {error !== undefined && (
        <p id={`${id}-error`} className="ps-9 text-sm text-bad">
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="ps-9 text-sm text-soft">
          {hint}
        </p>
      )}
    </div>
  )
}
