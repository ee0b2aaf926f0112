// Compares a value with a JSON schema, as far as docs/openapi.json uses the language. Stricter
// than the standard in one point: it reports a member that no schema describes, unless the schema
// allows other members, because readers expect exactly the described ones.
export type Schema = { readonly [word: string]: unknown }

const known = new Set([
  ...['$ref', 'type', 'const', 'enum', 'oneOf', 'properties', 'required', 'additionalProperties'],
  ...['items', 'minItems', 'maxItems', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern'],
  ...['description', 'default', 'format', 'examples'],
])

/** What is wrong, as `path: what`; empty when the value is as described. */
export function complaintsOf(value: unknown, schema: Schema, root: Schema, path = '$'): string[] {
  const unknown = Object.keys(schema).filter((word) => !known.has(word))
  if (unknown.length > 0) return [`${path}: this checker does not know ${unknown}`]
  if (typeof schema.$ref === 'string') {
    return complaintsOf(value, resolve(schema.$ref, root), root, path)
  }
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length > 0 && !types.some((type) => isOf(value, type as string))) {
    return [`${path}: ${JSON.stringify(value)} is not ${types.join(' or ')}`]
  }
  const choices = (schema.oneOf ?? []) as Schema[]
  const fitting = choices.filter((one) => complaintsOf(value, one, root, path).length === 0)
  return [
    ...(choices.length > 0 && fitting.length !== 1 ? [`${path}: fits ${fitting.length}`] : []),
    ...simple(value, schema).map((what) => `${path}: ${JSON.stringify(value)} ${what}`),
    ...(Array.isArray(value) && schema.items !== undefined
      ? value.flatMap((one, i) => complaintsOf(one, schema.items as Schema, root, `${path}[${i}]`))
      : []),
    ...(isOf(value, 'object') ? members(value as Schema, schema, root, path) : []),
  ]
}

export function resolve(ref: string, root: Schema): Schema {
  const found = ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((here, step) => (here as Schema | undefined)?.[step], root)
  if (found === undefined) throw new Error(`${ref} does not resolve`)
  return found as Schema
}

function members(value: Schema, schema: Schema, root: Schema, path: string): string[] {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>
  const others = schema.additionalProperties
  const missing = ((schema.required ?? []) as string[]).filter(
    (name) => !Object.hasOwn(value, name),
  )
  return [
    ...missing.map((name) => `${path}.${name}: missing`),
    ...Object.entries(value).flatMap(([name, member]) => {
      const at = `${path}.${name}`
      if (Object.hasOwn(properties, name)) {
        return complaintsOf(member, properties[name] ?? {}, root, at)
      }
      if (others === true) return []
      if (typeof others === 'object') return complaintsOf(member, others as Schema, root, at)
      return [`${at}: not described`]
    }),
  ]
}

function simple(value: unknown, schema: Schema): string[] {
  const { pattern, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema
  const within = (n: number, least: unknown, most: unknown) =>
    n >= ((least as number | undefined) ?? -Infinity) &&
    n <= ((most as number | undefined) ?? Infinity)
  const found: string[] = []
  if ('const' in schema && value !== schema.const) found.push(`is not ${schema.const}`)
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) found.push(`is not of the list`)
  if (typeof value === 'number' && !within(value, minimum, maximum)) found.push('is out of range')
  if (typeof value === 'string') {
    if (!within(value.length, minLength, maxLength)) found.push('is of the wrong length')
    if (typeof pattern === 'string' && !new RegExp(pattern).test(value))
      found.push(`not ${pattern}`)
  }
  if (Array.isArray(value) && !within(value.length, minItems, maxItems)) found.push('wrong length')
  return found
}

function isOf(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}
