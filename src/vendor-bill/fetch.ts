// Asks the vendor's reporting API for the usage of some days, page by page.
import { request } from 'undici'
import { Fault } from '../platform/assert.ts'
import type { Masked } from '../platform/masked.ts'

export type ReportSource = {
  /** Without a slash at the end. */
  readonly url: string
  /** A credential for reports, not one for messages. */
  readonly key: Masked<string>
}

/** For all pages: a report of a day takes the vendor some seconds. */
const TIMEOUT_MS = 120_000
/**
 * For all pages: three days with 5,000 rows each. The worker, which also sweeps holds and credits
 * payments, must not run out of memory by an answer that does not end.
 */
const BYTES_MAX = 8 * 1_048_576
/** The vendor's largest page of days; three days fit in one. More pages mean a wrong cursor. */
const PAGE_DAYS = 31
const PAGES_MAX = 20
/** Grouping by speed is a beta of the vendor. */
const HEADERS = {
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'fast-mode-2026-02-01',
}
const GROUPS = ['model', 'service_tier', 'context_window', 'inference_geo', 'speed']

/** The pages as one JSON array, for `readReport`. `from` and `to` are days, without the last. */
export async function fetchReport(
  { url, key }: ReportSource,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<string> {
  const pages: string[] = []
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  let bytesLeft = BYTES_MAX
  let next: string | undefined
  do {
    if (pages.length >= PAGES_MAX) throw new Fault(`the report has more than ${PAGES_MAX} pages`)
    const query = new URLSearchParams({
      ...{ starting_at: `${from}T00:00:00Z`, ending_at: `${to}T00:00:00Z` },
      ...{ bucket_width: '1d', limit: String(PAGE_DAYS) },
      ...(next === undefined ? {} : { page: next }),
    })
    for (const group of GROUPS) query.append('group_by[]', group)
    const { statusCode, body } = await request(
      `${url}/v1/organizations/usage_report/messages?${query}`,
      { headers: { 'x-api-key': key.reveal(), ...HEADERS }, signal },
    )
    const page = await readUpTo(bytesLeft, body)
    // Not the text: it may quote our credential.
    if (statusCode !== 200) throw new Fault(`the vendor's report answered with ${statusCode}`)
    bytesLeft -= page.length
    const text = page.toString()
    pages.push(text)
    next = nextOf(text)
  } while (next !== undefined)
  return `[${pages.join(',')}]`
}

async function readUpTo(bytesMax: number, body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    // Leaving the loop closes the connection.
    if (bytes > bytesMax) throw new Fault(`the report is longer than ${BYTES_MAX / 1_048_576} MiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The cursor of the next page; undefined on the last one, and in what is not a report. */
function nextOf(text: string): string | undefined {
  try {
    const { has_more: hasMore, next_page: cursor } = JSON.parse(text)
    return hasMore === true && typeof cursor === 'string' ? cursor : undefined
  } catch {
    return undefined
  }
}
