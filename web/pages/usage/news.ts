// Which of the latest requests the shown page of the log does not have yet.
import type { RequestLine } from '../../../src/cabinet/contract/contract.ts'
import type { LogLine } from '../../../src/cabinet/contract/usage.ts'
import type { UsageSearch } from './period.ts'

/** `isMore`: all that we were told of is new, so there may be more of them. */
export type News = { readonly count: number; readonly isMore: boolean }

export function newIn(
  lines: readonly Pick<LogLine, 'id' | 'at'>[],
  latest: readonly RequestLine[],
  { model, ending }: Pick<UsageSearch, 'model' | 'ending'>,
): News {
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
