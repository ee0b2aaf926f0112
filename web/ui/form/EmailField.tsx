// An e-mail address: the phone shows its @, nothing capitalises or corrects it.
import { TextField, type TextFieldProps } from './Field.tsx'

export function EmailField(props: TextFieldProps) {
  return (
    <TextField
      type="email"
      inputMode="email"
      autoComplete="email"
      autoCapitalize="none"
      spellCheck={false}
      {...props}
    />
  )
}

/** Only what is surely no address; whether it is one, a letter tells. */
export function looksLikeEmail(text: string): boolean {
  return /.@./.test(text)
}
