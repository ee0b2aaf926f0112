// A field for an e-mail address: phones show a keyboard with @ and do not capitalise or correct it.
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

/** False for text that cannot be an address; only an e-mail shows whether an address exists. */
export function looksLikeEmail(text: string): boolean {
  return /.@./.test(text)
}
