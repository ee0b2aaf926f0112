// The smallest value that a JSON schema accepts, for tool inputs and structured replies. Supports
// the keywords that tool and SDK schemas use; it is not a validator.
import { isObject, type JsonObject } from './json.ts'

// Schemas may refer to themselves; nothing real nests deeper than this.
const depthMax = 12

export function exampleOf(schema: unknown, root: unknown = schema, depth = 0): unknown {
  if (!isObject(schema) || depth > depthMax) return null
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (schema.default !== undefined) return schema.default
  if (typeof schema.$ref === 'string') {
    return exampleOf(definitionOf(schema.$ref, root), root, depth + 1)
  }
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (Array.isArray(choices)) return exampleOf(choices[0], root, depth + 1)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object' || isObject(schema.properties)) return exampleObject(schema, root, depth)
  if (type === 'array') return exampleArray(schema, root, depth)
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1
  if (type === 'boolean') return true
  return type === 'null' ? null : 'stand-in'
}

function exampleObject(schema: JsonObject, root: unknown, depth: number): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const names = Array.isArray(schema.required) ? schema.required.map(String) : []
  return Object.fromEntries(
    names.map((name) => [name, exampleOf(properties[name], root, depth + 1)]),
  )
}

function exampleArray(schema: JsonObject, root: unknown, depth: number): unknown[] {
  const least = typeof schema.minItems === 'number' ? schema.minItems : 0
  return Array.from({ length: least }, () => exampleOf(schema.items, root, depth + 1))
}

function definitionOf(reference: string, root: unknown): unknown {
  let found: unknown = root
  for (const name of reference.split('/').slice(1)) found = isObject(found) ? found[name] : null
  return found
}
