// Changes of single fields of a catalogue, such as `models.model-large.coefficient=6`, for an
// operator who edits prices without a file. The result is checked like a file, and a problem names
// its field.
import { readYaml, type SchemaProblem } from '../platform/yaml.ts'
import { type Catalogue, formatCatalogue, rawItems, rawObject, readCatalogue } from './catalogue.ts'

/** `field` is written as in a change: `packs.pack-35m.priceKopecks`. */
export type FieldProblem = { readonly field: string; readonly sentence: string }
type Raw = Record<string, unknown>

/**
 * Applies changes in their order. A change is `models.<id>.<field>=<value>` or the same with
 * `packs`; the value is YAML. Without a value, the field is removed. Without a field, the whole
 * model or pack is replaced, added or removed.
 */
export function changeCatalogue(
  catalogue: Catalogue,
  changes: readonly string[],
): { readonly catalogue: Catalogue } | { readonly problems: readonly FieldProblem[] } {
  const problems: FieldProblem[] = []
  let raw = readYaml(formatCatalogue(catalogue), { textOnly: true }).value as Raw
  for (const change of changes) {
    const changed = changeOne(raw, change)
    if ('raw' in changed) raw = changed.raw
    else problems.push(changed)
  }
  if (problems.length > 0) return { problems }
  const read = readCatalogue(raw)
  if ('catalogue' in read) return read
  return { problems: read.problems.map((one) => fieldProblem(raw, one)) }
}

function changeOne(raw: Raw, change: string): { readonly raw: Raw } | FieldProblem {
  const at = change.indexOf('=')
  const field = (at === -1 ? change : change.slice(0, at)).trim()
  const [list = '', rest = ''] = splitOnce(field)
  if (at === -1 || (list !== 'models' && list !== 'packs') || rest === '') {
    const sentence = 'expected models.<id>.<field>=<value> or packs.<id>.<field>=<value>'
    return { field, sentence }
  }
  const yaml = readYaml(change.slice(at + 1), { textOnly: true })
  const [broken] = yaml.problems
  if (broken !== undefined) return { field, sentence: broken.sentence }
  const value = yaml.value === null || yaml.value === '' ? undefined : yaml.value
  const items = rawItems(raw, list)
  const known = items
    .map(({ id }) => String(id))
    .filter((id) => rest === id || rest.startsWith(`${id}.`))
    .sort((a, b) => b.length - a.length)[0]
  if (known === undefined) {
    if (typeof value !== 'object')
      return { field, sentence: `there is no such ${list.slice(0, -1)}` }
    return { raw: { ...raw, [list]: [...items, { id: rest, ...value }] } }
  }
  const path = rest === known ? [] : rest.slice(known.length + 1).split('.')
  const next = items.flatMap((item) => {
    if (item.id !== known) return [item]
    if (path.length > 0) return [withValue(item, path, value)]
    return value === undefined ? [] : [{ id: known, ...rawObject(value) }]
  })
  return { raw: { ...raw, [list]: next } }
}

/** An id may contain dots, so only the first one is a separator. */
function splitOnce(field: string): [string, string] {
  const at = field.indexOf('.')
  return at === -1 ? [field, ''] : [field.slice(0, at), field.slice(at + 1)]
}

/** A copy with one value changed; undefined removes it. Only own fields count. */
function withValue(node: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (Array.isArray(node)) {
    const at = /^\d{1,3}$/.test(key) && Number(key) <= node.length ? Number(key) : node.length
    const inner = withValue(node[at], rest, value)
    return node.toSpliced(at, 1, ...(inner === undefined ? [] : [inner]))
  }
  const fields = rawObject(node)
  const inner = withValue(Object.hasOwn(fields, key) ? fields[key] : undefined, rest, value)
  const { [key]: _, ...others } = fields
  return inner === undefined ? others : { ...fields, [key]: inner }
}

/** `models.0.coefficient` of the file is `models.model-large.coefficient` here. */
function fieldProblem(raw: Raw, { path, sentence }: SchemaProblem): FieldProblem {
  const [list, index, ...rest] = path.map(String)
  if (list === undefined || index === undefined) return { field: list ?? 'catalogue', sentence }
  const id = rawItems(raw, list)[Number(index)]?.id ?? index
  return { field: [list, String(id), ...rest].join('.'), sentence }
}
