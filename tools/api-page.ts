// Builds docs/api.md and docs/ru/api.md from docs/openapi.json: one section for each path, one for
// each object. A test compares them, and the cabinet shows the pages. We do not use a ready-made
// viewer: the one we tried (Scalar) has 299 packages, 243 MB and a script of 3.5 MB that needs
// inline styles.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { translator } from './translations.ts'

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

For developers who call the API: every path and object. Every gateway serves this contract at
\`/openapi.json\`. See also [the list of errors](errors.md) and
[what a request costs](charging.md).

<!-- Made from openapi.json by tools/docs-pages.ts: change that one, not this. -->
`
const KEY = 'Every path takes the key as `x-api-key` (recommended) or as `Authorization: Bearer`.'
/** Sentences and words of the page that are not in the contract. */
const OWN_TEXTS = [
  ...[HEAD, KEY, 'Objects', 'No key is needed.', 'A key may be left out.'],
  ...['Fields that are not listed are passed on.', 'Body:', 'yes', 'or', 'array of', 'one of'],
  ...['default', 'parameter', 'in', 'meaning', 'status', 'body', 'headers', 'field', 'type'],
  ...['required', 'header', 'query', 'path', 'string', 'integer', 'number', 'boolean', 'object'],
  ...['null', 'any', ...BOUNDS.map(([, words]) => words)],
]

const root = join(import.meta.dirname, '..')

type Page = { readonly contract: Contract; readonly t: (text: string) => string }

/** The text of the page for the current docs/openapi.json. */
export function apiPage(language: 'en' | 'ru'): string {
  const t = translator('api', language)
  const contract = readContract()
  const page = { contract, t }
  const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => operationText(page, path, method, one)),
  )
  const objects = Object.entries(contract.components.schemas ?? {}).map(([name, schema]) =>
    objectText(page, name, schema),
  )
  return [
    `${t(HEAD)}\n${t(contract.info.description)}\n`,
    `${t(KEY)}\n`,
    ...operations,
    `## ${t('Objects')}\n`,
    ...objects,
  ].join('\n')
}

function readContract(): Contract {
  return JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8')) as Contract
}

/** Every text of the page: what has to be translated. */
export function apiTexts(): readonly string[] {
  return [...new Set([...OWN_TEXTS, ...textsIn(readContract())])]
}

function textsIn(tree: unknown): string[] {
  if (typeof tree !== 'object' || tree === null) return []
  return Object.entries(tree).flatMap(([name, value]) =>
    (name === 'description' || name === 'summary') && typeof value === 'string'
      ? [value]
      : textsIn(value),
  )
}

function operationText(page: Page, path: string, method: string, one: Operation): string {
  const { contract, t } = page
  const parameters = (one.parameters ?? []).map((given) => found<Named>(contract, given))
  const rows = parameters.map(
    ({ name, in: place, description, schema }) =>
      `| \`${name}\` | ${t(place ?? '')} | ${sentence(page, description, schema)} |`,
  )
  const body = Object.values(one.requestBody?.content ?? {})[0]?.schema
  const about = (text: string | undefined) => (text === undefined ? '' : ` ${t(text)}`)
  return [
    `## ${method.toUpperCase()} ${path}\n`,
    `${t(one.summary)}.${about(one.description)}`,
    '',
    ...keyText(page, one),
    ...(rows.length === 0 ? [] : [tableHead(page, ['parameter', 'in', 'meaning']), ...rows, '']),
    ...(body === undefined
      ? []
      : [`${t('Body:')} ${typeText(page, body)}.${about(one.requestBody?.description)}`, '']),
    tableHead(page, ['status', 'body', 'meaning', 'headers']),
    ...answerRows(page, one),
    '',
  ].join('\n')
}

function answerRows(page: Page, { responses }: Operation): string[] {
  return Object.entries(responses).map(([status, given]) => {
    const answer = found<Named>(page.contract, given)
    const schema = Object.values(answer.content ?? {})[0]?.schema
    const what = schema === undefined ? '' : typeText(page, schema)
    const headers = Object.keys(answer.headers ?? {}).map((name) => `\`${name}\``)
    return `| ${status} | ${what} | ${cell(page, answer.description)} | ${headers.join(', ')} |`
  })
}

function tableHead({ t }: Page, names: readonly string[]): string {
  return `| ${names.map(t).join(' | ')} |\n|${'---|'.repeat(names.length)}`
}

function keyText({ t }: Page, { security }: Operation): string[] {
  if (security === undefined) return []
  return [`${t(security.length === 0 ? 'No key is needed.' : 'A key may be left out.')}\n`]
}

function objectText(page: Page, name: string, schema: Schema): string {
  const { t } = page
  const isOpen = schema.additionalProperties === true
  const about = [
    ...(schema.description === undefined ? [] : [t(schema.description)]),
    ...(isOpen ? [t('Fields that are not listed are passed on.')] : []),
  ]
  return [
    `### ${name}\n`,
    ...(about.length === 0 ? [] : [about.join(' '), '']),
    tableHead(page, ['field', 'type', 'required', 'meaning']),
    ...membersOf(page, schema, ''),
    '',
  ].join('\n')
}

/** A row for each field; the fields of an inline object follow their object. */
function membersOf(
  page: Page,
  { properties = {}, required = [] }: Schema,
  before: string,
): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const must = required.includes(name) ? page.t('yes') : ''
    const path = `${before}${name}`
    const meaning = sentence(page, schema.description, schema)
    const row = `| \`${path}\` | ${typeText(page, schema)} | ${must} | ${meaning} |`
    return [row, ...(schema.properties === undefined ? [] : membersOf(page, schema, `${path}.`))]
  })
}

function typeText(page: Page, schema: Schema): string {
  const { t } = page
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? ''
    return `[${name}](#${name.toLowerCase()})`
  }
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  const or = ` ${t('or')} `
  if (schema.oneOf !== undefined) return schema.oneOf.map((one) => typeText(page, one)).join(or)
  if (schema.items !== undefined) return `${t('array of')} ${typeText(page, schema.items)}`
  return [schema.type ?? 'any'].flat().map(t).join(or)
}

function sentence({ t }: Page, description: string | undefined, schema: Schema = {}): string {
  const values = schema.enum?.map((value) => `\`${value}\``).join(', ')
  const bounds = BOUNDS.flatMap(([key, words]) =>
    schema[key] === undefined || schema[key] === 0 ? [] : [`${t(words)} ${schema[key]}`],
  )
  const fallback = schema.default
  const more = [
    ...(values === undefined ? [] : [`${t('one of')} ${values}`]),
    ...(fallback === undefined ? [] : [`${t('default')} \`${JSON.stringify(fallback)}\``]),
    ...bounds,
  ].join('; ')
  const parts = [cell({ t }, description), more === '' ? '' : `(${more})`]
  return parts.filter((part) => part !== '').join(' ')
}

/** Escapes the bar, which would end the table cell. */
function cell({ t }: Pick<Page, 't'>, text?: string): string {
  if (text === undefined) return ''
  return t(text).replaceAll('|', '\\|').replaceAll('\n', ' ')
}

function found<T extends { readonly $ref?: string }>(contract: Contract, given: T): T {
  if (given.$ref === undefined) return given
  const [kind = '', name = ''] = given.$ref.replace('#/components/', '').split('/')
  return contract.components[kind]?.[name] as unknown as T
}
