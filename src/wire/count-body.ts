// The body of a count_tokens request, made from the body of a message request: the members that the
// endpoint knows, as the client wrote them. It refuses others, such as max_tokens.

import type { CountedMember, TopName } from './draft.ts'

export const countedNames: ReadonlySet<TopName> = new Set<TopName>([
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'cache_control',
  'speed',
  'context_management', // may keep earlier thinking, which is otherwise not part of the input
])

/**
 * The slices of the new body; only names and the model's name are new memory. request.ts has found
 * the members: reading 32 MiB again took up to 1.8 s, during which every stream stood still.
 */
export function countBody(
  body: Buffer,
  members: readonly CountedMember[],
  model: string,
): Buffer[] {
  const slices: Buffer[] = [Buffer.from(`{"model":${JSON.stringify(model)}`)]
  for (const { name, at } of members) {
    slices.push(Buffer.from(`,"${name}":`), body.subarray(at.start, at.end))
  }
  slices.push(Buffer.from('}'))
  return slices
}
