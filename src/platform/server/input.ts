// Reads the JSON body or the query of a request with a schema. Each server refuses wrong input in
// its own way, and names the field. Also finds what no route may read, with or without a schema.
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'

/** So that no body is read which a foreign page can send without a preflight, such as a form. */
export function acceptOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, parse)
}

/** The value, or the path of the field that is wrong. */
export function readInput<Value>(
  schema: z.ZodType<Value>,
  value: unknown,
): { readonly value: Value } | { readonly field: string } {
  const read = schema.safeParse(value)
  const nul = nulPath(value)
  if (read.success && nul === undefined) return { value: read.data }
  // Not zod's own message: it may quote the input, which may be a key.
  return { field: (read.error?.issues[0]?.path ?? nul)?.join('.') ?? '' }
}

/** The parameter of the path or the query that has a NUL character; undefined: none has. */
export function nulParameter(p: { readonly params: unknown; readonly query: unknown }) {
  return (nulPath(p.params) ?? nulPath(p.query))?.join('.')
}

/** Where a text has a NUL character. PostgreSQL has no such text and would raise an error. */
function nulPath(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.includes('\0') ? [] : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const path = nulPath(member)
    if (path !== undefined) return [name, ...path]
  }
  return undefined
}
