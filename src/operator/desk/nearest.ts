// Suggests the name that the operator probably meant, if one is close enough to be a typing error.
import { nearest } from '../../platform/nearest.ts'

/** `; did you mean anna@example.org?`, or nothing. */
export function suggestion(typed: string, names: readonly string[]): string {
  const name = nearest(typed, names)
  return name === undefined ? '' : `; did you mean ${name}?`
}
