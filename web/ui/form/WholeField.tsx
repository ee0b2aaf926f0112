// A whole number as text: the phone shows its digits, and nothing is filled in by itself.
import { TextField, type TextFieldProps } from './Field.tsx'

export function WholeField(props: TextFieldProps) {
  return <TextField inputMode="numeric" autoComplete="off" {...props} />
}
