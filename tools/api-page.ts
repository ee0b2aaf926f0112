// Builds docs/api.md from docs/openapi.json: one section for each path, one for each object. A test
// compares the two, and the cabinet shows the page. We do not use a ready-made viewer: the one we
// tried (Scalar) has 299 packages, 243 MB and a script of 3.5 MB that needs inline styles.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly additionalProperties?: boolean | Schema
} & Readonly<Partial<Record<(typeof BOUNDS)[number][0], number>>>
type Named = {
  readonly $ref?: string
  readonly name?: string
  readonly in?: string
  readonly description?: string
  readonly schema?: Schema
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}
type Operation = {
  readonly summary: string
  readonly description?: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Named[]
  readonly requestBody?: Named
  readonly responses: Readonly<Record<string, Named>>
}
type Contract = {
  readonly info: { readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, Schema & Named>>>>
}

const BOUNDS = [
  ['minimum', 'at least'],
  ['maximum', 'at most'],
  ['minItems', 'items: at least'],
  ['maxItems', 'items: at most'],
  ['maxLength', 'characters: at most'],
] as const

const HEAD = `# The API

<!-- Made from openapi.json by tools/api-docs.ts: change that one, not this. -->

For developers who call the API: every path and object. Every gateway serves this contract at
\`/openapi.json\`. See also [the list of errors](errors.md) and
[what a request costs](charging.md).
`

const root = join(import.meta.dirname, '..')

/** The text of docs/api.md for the current docs/openapi.json. */
export function apiPage(): string {
  const text = readFileSync(join(root, 'docs/openapi.json'), 'utf8')
  const contract = JSON.parse(text) as Contract
  const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => operationText(contract, path, method, one)),
  )
  const objects = Object.entries(contract.components.schemas ?? {}).map(([name, schema]) =>
    objectText(name, schema),
  )
  return [
    `${HEAD}\n${contract.info.description}\n`,
    'Every path takes the key as `x-api-key` (recommended) or as `Authorization: Bearer`.\n',
    ...operations,
    '## Objects\n',
    ...objects,
  ].join('\n')
}

function operationText(contract: Contract, path: string, method: string, one: Operation): string {
  const parameters = (one.parameters ?? []).map((given) => found<Named>(contract, given))
  const rows = parameters.map(
    ({ name, in: place, description, schema }) =>
      `| \`${name}\` | ${place} | ${sentence(description, schema)} |`,
  )
  const body = Object.values(one.requestBody?.content ?? {})[0]?.schema
  const answers = Object.entries(one.responses).map(([status, given]) => {
    const answer = found<Named>(contract, given)
    const schema = Object.values(answer.content ?? {})[0]?.schema
    const what = schema === undefined ? '' : typeText(schema)
    const headers = Object.keys(answer.headers ?? {}).map((name) => `\`${name}\``)
    return `| ${status} | ${what} | ${cell(answer.description)} | ${headers.join(', ')} |`
  })
  return [
    `## ${method.toUpperCase()} ${path}\n`,
    `${one.summary}. ${one.description ?? ''}`.trim(),
    '',
    ...keyText(one),
    ...(rows.length === 0 ? [] : ['| parameter | in | meaning |\n|---|---|---|', ...rows, '']),
    ...(body === undefined
      ? []
      : [`Body: ${typeText(body)}. ${one.requestBody?.description ?? ''}`.trim(), '']),
    '| status | body | meaning | headers |\n|---|---|---|---|',
    ...answers,
    '',
  ].join('\n')
}

function keyText({ security }: Operation): string[] {
  if (security === undefined) return []
  return [security.length === 0 ? 'No key is needed.\n' : 'A key may be left out.\n']
}

function objectText(name: string, schema: Schema): string {
  const isOpen = schema.additionalProperties === true
  const open = isOpen ? 'Fields that are not listed are passed on.' : ''
  const about = [schema.description, open].filter((part) => part !== undefined && part !== '')
  return [
    `### ${name}\n`,
    ...(about.length === 0 ? [] : [about.join(' '), '']),
    '| field | type | required | meaning |\n|---|---|---|---|',
    ...membersOf(schema, ''),
    '',
  ].join('\n')
}

/** A row for each field; the fields of an inline object follow their object. */
function membersOf({ properties = {}, required = [] }: Schema, before: string): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const must = required.includes(name) ? 'yes' : ''
    const path = `${before}${name}`
    const meaning = sentence(schema.description, schema)
    const row = `| \`${path}\` | ${typeText(schema)} | ${must} | ${meaning} |`
    return [row, ...(schema.properties === undefined ? [] : membersOf(schema, `${path}.`))]
  })
}

function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? ''
    return `[${name}](#${name.toLowerCase()})`
  }
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.oneOf !== undefined) return schema.oneOf.map(typeText).join(' or ')
  if (schema.items !== undefined) return `array of ${typeText(schema.items)}`
  const types = schema.type ?? 'any'
  return typeof types === 'string' ? types : types.join(' or ')
}

function sentence(description: string | undefined, schema: Schema = {}): string {
  const values = schema.enum?.map((value) => `\`${value}\``).join(', ')
  const bounds = BOUNDS.flatMap(([key, words]) =>
    schema[key] === undefined || schema[key] === 0 ? [] : [`${words} ${schema[key]}`],
  )
  const more = [
    ...(values === undefined ? [] : [`one of ${values}`]),
    ...(schema.default === undefined ? [] : [`default \`${JSON.stringify(schema.default)}\``]),
    ...bounds,
  ].join('; ')
  return [cell(description), more === '' ? '' : `(${more})`].filter((part) => part !== '').join(' ')
}

/** Escapes the bar, which would end the table cell. */
function cell(text = ''): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

function found<T extends { readonly $ref?: string }>(contract: Contract, given: T): T {
  if (given.$ref === undefined) return given
  const [kind = '', name = ''] = given.$ref.replace('#/components/', '').split('/')
  return contract.components[kind]?.[name] as unknown as T
}
