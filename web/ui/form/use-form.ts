// The state of a form: values, an error for each field, one error for the whole form, and sending.
// The focus goes to the first field with an error.
import { type FormEvent, useRef, useState } from 'react'
import { type Code, isApiRefusal } from '../../runtime/api.ts'
import { useErrorText } from '../../runtime/errors.ts'

type Values = Readonly<Record<string, string | boolean>>
export type FieldErrors<V> = { readonly [Key in keyof V]?: string | undefined }

export type FormOptions<V extends Values> = {
  /** The values that the form shows at first. */
  readonly initial: V
  /** Error messages by field; with any of them the form is not sent. */
  readonly check?: (values: V) => FieldErrors<V>
  readonly send: (values: V) => Promise<unknown>
  /** The field beside which the error of a refusal code is shown; others stand above the button. */
  readonly errorFields?: { readonly [Key in Code]?: keyof V & string }
}

export type FormState = {
  readonly isPending: boolean
  readonly error: string | undefined
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void
}

export function useForm<V extends Values>(options: FormOptions<V>) {
  const [values, setValues] = useState(options.initial)
  const [fieldErrors, setFieldErrors] = useState<FieldErrors<V>>({})
  const [error, setError] = useState<string>()
  const [isPending, setPending] = useState(false)
  const isSending = useRef(false)
  const errorText = useErrorText()

  function set<Key extends keyof V & string>(name: Key, value: V[Key]): void {
    setValues((before) => ({ ...before, [name]: value }))
    // The error goes away while the user corrects the field.
    setFieldErrors((before) => ({ ...before, [name]: undefined }))
  }

  function showErrors(found: FieldErrors<V>, element: HTMLFormElement): void {
    setFieldErrors(found)
    const first = Object.keys(found).find((name) => found[name] !== undefined)
    const control = first === undefined ? null : element.elements.namedItem(first)
    if (control instanceof HTMLElement) control.focus()
  }

  async function submit(element: HTMLFormElement): Promise<void> {
    setError(undefined)
    const found = options.check?.(values) ?? {}
    showErrors(found, element)
    if (Object.values(found).some((one) => one !== undefined)) return
    setPending(true)
    try {
      await options.send(values)
    } catch (caught) {
      const field = isApiRefusal(caught) ? options.errorFields?.[caught.code] : undefined
      const text = errorText(caught)
      if (field === undefined) setError(text)
      // Safe: a record of one field is a record of some fields.
      else showErrors({ [field]: text } as FieldErrors<V>, element)
    } finally {
      setPending(false)
    }
  }

  return {
    values,
    set,
    isPending,
    error,
    setError,
    problem: (name: keyof V & string) => fieldErrors[name],
    /** Spread into a TextField or PasswordField. */
    text: <Key extends keyof V & string>(name: Key) => ({
      name,
      value: String(values[name]),
      error: fieldErrors[name],
      onChange: (value: string) => set(name, value as V[Key]),
    }),
    /** Spread into a CheckField. */
    box: <Key extends keyof V & string>(name: Key) => ({
      name,
      isChecked: values[name] === true,
      error: fieldErrors[name],
      onChange: (value: boolean) => set(name, value as V[Key]),
    }),
    onSubmit(event: FormEvent<HTMLFormElement>): void {
      event.preventDefault()
      // A ref, because React state would change too late to stop the second of a double click.
      if (isSending.current) return
      isSending.current = true
      void submit(event.currentTarget).finally(() => {
        isSending.current = false
      })
    },
  }
}
