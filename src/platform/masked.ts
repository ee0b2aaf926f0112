// A secret that cannot be printed by accident: String(), JSON, template literals and the inspector
// show dots. Only reveal() returns the value, so a search for it finds every use of a secret.
import { inspect } from 'node:util'

/** Printed instead of a secret. Its length says nothing about the secret. */
export const DOTS = '••••••••'

export class Masked<T> {
  // A private field, not a property: structuredClone, spread and the debugger's JSON skip it.
  readonly #secret: T

  constructor(secret: T) {
    this.#secret = secret
  }

  reveal(): T {
    return this.#secret
  }

  toString(): string {
    return DOTS
  }

  toJSON(): string {
    return DOTS
  }

  [inspect.custom](): string {
    return DOTS
  }
}
