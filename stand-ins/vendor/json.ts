// The type of a parsed JSON object before validation.

export type JsonObject = { readonly [member: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
