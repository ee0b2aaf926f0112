// Writes a value as JSON in parts, so that a list of millions of entries is never in memory: a
// member may be an async iterable, which becomes an array, or a function, which is called when its
// turn comes.

/** An array is written in texts of about this length: one write to a socket for many entries. */
const PART_LENGTH = 32_768

export async function* jsonParts(value: unknown): AsyncGenerator<string> {
  if (typeof value === 'function') yield* jsonParts(await value())
  else if (isIterable(value)) yield* arrayParts(value)
  else if (isPlainObject(value)) {
    yield '{'
    let comma = ''
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue
      yield `${comma}${JSON.stringify(name)}:`
      yield* jsonParts(member)
      comma = ','
    }
    yield '}'
  } else yield JSON.stringify(value ?? null)
}

async function* arrayParts(items: AsyncIterable<unknown>): AsyncGenerator<string> {
  let part = '['
  let comma = ''
  for await (const item of items) {
    part += `${comma}${JSON.stringify(item)}`
    comma = ',\n'
    if (part.length < PART_LENGTH) continue
    yield part
    part = ''
  }
  yield `${part}]`
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype &&
    !('toJSON' in value)
  )
}
