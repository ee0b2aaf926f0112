// Reads YAML files that people write, and keeps the line of every value, so that a problem can name
// its line. Turns the issues of a schema into sentences, all at once, so that a file can be mended
// in one go.
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { z } from 'zod'
import { errorsBetween } from './nearest.ts'

export type KeyPath = readonly PropertyKey[]
export type SchemaProblem = { readonly path: KeyPath; readonly sentence: string }

export type YamlText = {
  readonly value: unknown
  /** The line of a value, or of the nearest thing around it that exists. */
  lineAt(path: KeyPath): number
  /** Errors of YAML itself, each with its line: broken syntax, a duplicate key. */
  readonly problems: readonly { readonly line: number; readonly sentence: string }[]
}

/** With `textOnly` every scalar stays text, so that 1.25 never passes through a float. */
export function readYaml(text: string, { textOnly = false } = {}): YamlText {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    schema: textOnly ? 'failsafe' : 'core',
  })
  const problems = [...document.errors, ...document.warnings].map((problem) => ({
    line: lineCounter.linePos(problem.pos[0]).line,
    sentence: problem.message,
  }))
  return {
    value: problems.length === 0 ? document.toJS() : undefined,
    lineAt: (path) => lineCounter.linePos(offsetAt(document.contents, path)).line,
    problems,
  }
}

function offsetAt(root: Node | null, path: KeyPath): number {
  let node: unknown = root
  let offset = root?.range?.[0] ?? 0
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && item.key.value === step)
      if (pair === undefined || !isScalar(pair.key)) return offset
      offset = pair.key.range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node) && typeof step === 'number') {
      const item = node.items[step] as Node | undefined
      if (item === undefined) return offset
      offset = item.range?.[0] ?? offset
      node = item
    } else {
      return offset
    }
  }
  return offset
}

/** The issues of a schema as sentences; for an unknown key with the nearest known name. */
export function schemaProblems(error: z.ZodError, schema: z.ZodType): SchemaProblem[] {
  return error.issues.flatMap((issue): SchemaProblem[] => {
    if (issue.code !== 'unrecognized_keys') {
      return [{ path: issue.path, sentence: plainSentence(issue) }]
    }
    const known = knownNames(schema, issue.path)
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      sentence: `no such name; the nearest known one is ${nearestName(key, known)}`,
    }))
  })
}

function plainSentence(issue: z.core.$ZodIssue): string {
  // This is how zod reports that a required member is missing.
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return 'is missing'
  }
  return issue.message.replace(/^Invalid (?:input|option): /, '')
}

function knownNames(schema: z.ZodType, path: KeyPath): string[] {
  let here: unknown = schema
  for (const step of path) {
    here = withoutWrapping(here)
    if (here instanceof z.ZodObject) here = here.shape[String(step)]
    else if (here instanceof z.ZodArray) here = here.element
    else if (here instanceof z.ZodRecord) here = here.valueType
  }
  here = withoutWrapping(here)
  return here instanceof z.ZodObject ? Object.keys(here.shape) : []
}

function withoutWrapping(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return withoutWrapping(schema.unwrap())
  }
  // zod makes a pipe of a transformed object; its names are those of the input.
  return schema instanceof z.ZodPipe ? withoutWrapping(schema.in) : schema
}

/** The known name with the fewest single-character edits away from the given one. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  return known
    .map((candidate) => ({ candidate, edits: errorsBetween(name, candidate) }))
    .sort((a, b) => a.edits - b.edits)[0]?.candidate
}
