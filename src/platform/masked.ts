// A secret that cannot be printed by accident: String(), JSON, template literals and the inspector
// show dots. Only reveal() gives the value, so a search for it finds every place that sees secrets.
import { inspect } from 'node:util'

/** What stands for a secret wherever one would be printed. Its length says nothing. */
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
