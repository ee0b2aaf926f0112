// Puts a reader's values into the examples: the address, the key and the model. The files of docs/
// have values that stand for them; test/docs/snippets.test.ts runs every example as filled in here.

export type Values = {
  readonly apiUrl: string
  readonly vendorSlug: string
  /** The key, or what is shown in its place; undefined: the beginning of one. */
  readonly key?: string | undefined
  /** The models of the catalogue, in its order. */
  readonly models: readonly string[]
  /** The model that the reader chose for all examples. */
  readonly model?: string | undefined
}

const ADDRESS = 'https://api.example.org'
const SLUG = 'sk-vendor-'
const KEY = 'sk-vendor-api03-…'
const MODEL = /\bmodel-(?:small|large)\b/g

/** Whether a reader's values change an example. */
export function isFilled(text: string): boolean {
  return hasKey(text) || text.includes(ADDRESS) || text.search(MODEL) !== -1
}

export function hasKey(text: string): boolean {
  return text.includes(KEY)
}

/** The model that examples name, for a reader to replace. */
export function modelIn(text: string): string {
  return text.match(MODEL)?.[0] ?? 'model-small'
}

/** In sentences, tables and codes. */
export function fillText(text: string, values: Pick<Values, 'apiUrl' | 'vendorSlug'>): string {
  return text.replaceAll(ADDRESS, values.apiUrl).replaceAll(SLUG, `sk-${values.vendorSlug}-`)
}

/** In examples, which have to work as they are copied. */
export function fillExample(text: string, values: Values): string {
  const { key, models, model } = values
  const named = text.replace(
    MODEL,
    (name) => model ?? (models.includes(name) ? name : (models[0] ?? name)),
  )
  return fillText(key === undefined ? named : named.replaceAll(KEY, key), values)
}
