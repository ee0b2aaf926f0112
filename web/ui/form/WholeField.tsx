// A field for a whole number as text: phones show digits, and browsers do not autofill it.
import { TextField, type TextFieldProps } from './Field.tsx'

export function WholeField(props: TextFieldProps) {
  return <TextField inputMode="numeric" autoComplete="off" {...props} />
}
