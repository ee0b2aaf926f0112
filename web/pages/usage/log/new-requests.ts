// Counts the latest requests that the shown page of the log does not contain yet.
import type { RequestLine } from '../../../../src/cabinet/contract/contract.ts'
import type { LogLine } from '../../../../src/cabinet/contract/usage.ts'
import { dayAt, type LogFilterName, type Span, type UsageSearch } from '../period.ts'

/** `isMore`: every request in the live update is new, so there may be more than `count`. */
export type NewRequests = { readonly count: number; readonly isMore: boolean }

export function countNewRequests(
  lines: readonly Pick<LogLine, 'id' | 'at'>[],
  latest: readonly RequestLine[],
  shown: Pick<UsageSearch, LogFilterName> & Pick<Span, 'from' | 'to'> & { zone: string },
): NewRequests {
  const { model, ending, from, to, zone } = shown
  // Live updates have no sessions and labels, and the requests of an hour are soon complete.
  if ((shown.session ?? shown.agent ?? shown.label ?? shown.hour) !== undefined)
    return { count: 0, isMore: false }
  const known = new Set(lines.map(({ id }) => id))
  const newest = lines[0]?.at ?? ''
  // The log of today never shows the requests of yesterday, however often it is loaded.
  const isOfPeriod = (line: RequestLine) => {
    const day = dayAt(zone, Date.parse(line.at))
    return day >= from && day <= to
  }
  const isWanted = (line: RequestLine) =>
    isOfPeriod(line) &&
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
