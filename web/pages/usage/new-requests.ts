// Counts the latest requests that the shown page of the log does not contain yet.
import type { RequestLine } from '../../../src/cabinet/contract/contract.ts'
import type { LogLine } from '../../../src/cabinet/contract/usage.ts'
import type { UsageSearch } from './period.ts'

/** `isMore`: every request in the live update is new, so there may be more than `count`. */
export type NewRequests = { readonly count: number; readonly isMore: boolean }

export function countNewRequests(
  lines: readonly Pick<LogLine, 'id' | 'at'>[],
  latest: readonly RequestLine[],
  { model, ending }: Pick<UsageSearch, 'model' | 'ending'>,
): NewRequests {
  const known = new Set(lines.map(({ id }) => id))
  const newest = lines[0]?.at ?? ''
  const isWanted = (line: RequestLine) =>
    (model === undefined || line.model === model) &&
    (ending === undefined ||
      line.ending === ending ||
      (ending === 'free' && line.isFree) ||
      (ending === 'charged' && !line.isFree))
  const fresh = latest.filter((line) => !known.has(line.requestId) && line.at >= newest)
  const wanted = fresh.filter(isWanted)
  return {
    count: wanted.length,
    isMore: wanted.length > 0 && fresh.length === latest.length && lines.length > 0,
  }
}
