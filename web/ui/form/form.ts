// The state of a form: values, errors by field, one error for the whole, and sending. A no that is
// about a field is shown at that field; the focus goes to the first field with an error.
import { type FormEvent, useRef, useState } from 'react'
import { type Code, isNo } from '../../runtime/api.ts'
import { useErrorText } from '../../runtime/errors.ts'

type Values = Readonly<Record<string, string | boolean>>
export type Problems<V> = { readonly [Key in keyof V]?: string | undefined }

export type FormOptions<V extends Values> = {
  readonly start: V
  /** Sentences for fields that cannot be sent as they are. */
  readonly check?: (values: V) => Problems<V>
  readonly send: (values: V) => Promise<unknown>
  /** Which field a code is about; the others are shown above the form. */
  readonly blame?: { readonly [Key in Code]?: keyof V & string }
}

export type Form = {
  readonly isPending: boolean
  readonly error: string | undefined
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void
}

export function useForm<V extends Values>(options: FormOptions<V>) {
  const [values, setValues] = useState(options.start)
  const [problems, setProblems] = useState<Problems<V>>({})
  const [error, setError] = useState<string>()
  const [isPending, setPending] = useState(false)
  const guard = useRef(false)
  const errorText = useErrorText()

  function set<Key extends keyof V & string>(name: Key, value: V[Key]): void {
    setValues((before) => ({ ...before, [name]: value }))
    // Who corrects a field is not scolded while doing so.
    setProblems((before) => ({ ...before, [name]: undefined }))
  }

  function show(found: Problems<V>, element: HTMLFormElement): void {
    setProblems(found)
    const first = Object.keys(found).find((name) => found[name] !== undefined)
    const control = first === undefined ? null : element.elements.namedItem(first)
    if (control instanceof HTMLElement) control.focus()
  }

  async function submit(element: HTMLFormElement): Promise<void> {
    setError(undefined)
    const found = options.check?.(values) ?? {}
    show(found, element)
    if (Object.values(found).some((problem) => problem !== undefined)) return
    setPending(true)
    try {
      await options.send(values)
    } catch (caught) {
      const field = isNo(caught) ? options.blame?.[caught.code] : undefined
      const text = errorText(caught)
      if (field === undefined) setError(text)
      // Safe: a record of one field is a record of some fields.
      else show({ [field]: text } as Problems<V>, element)
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
    problem: (name: keyof V & string) => problems[name],
    /** Spread into a TextField or PasswordField. */
    text: <Key extends keyof V & string>(name: Key) => ({
      name,
      value: String(values[name]),
      error: problems[name],
      onChange: (value: string) => set(name, value as V[Key]),
    }),
    /** Spread into a CheckField. */
    box: <Key extends keyof V & string>(name: Key) => ({
      name,
      isChecked: values[name] === true,
      error: problems[name],
      onChange: (value: boolean) => set(name, value as V[Key]),
    }),
    onSubmit(event: FormEvent<HTMLFormElement>): void {
      event.preventDefault()
      // State comes a moment late for a double click; a reference does not.
      if (guard.current) return
      guard.current = true
      void submit(event.currentTarget).finally(() => {
        guard.current = false
      })
    },
  }
}
