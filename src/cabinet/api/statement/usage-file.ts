// GET /api/usage/file: the numbers of the usage explorer as a CSV or JSON file. The columns have
// the names of the contract's fields, because programs read these files, too.
import { z } from 'zod'
import type { Accounts } from '../../../accounts/accounts.ts'
import type { Plugin } from '../../../platform/server/plugin.ts'
import type { Usage, UsageFigures, UsageSeries } from '../../contract/usage.ts'
import { headersOf, requireAllowance, validate } from '../routes.ts'
import { readUsage, type UsageOptions, usageFields } from '../usage/usage.ts'
import { BYTE_ORDER_MARK, csvLine, type Field } from './csv.ts'

/** A file is one answer of the explorer; people download a few of them. */
const FILE_ALLOWANCE = { max: 120, seconds: 3_600 }

const COUNTS = [
  ...(['requests', 'free', 'errors', 'known', 'input', 'output'] as const),
  ...(['cacheRead', 'cacheWrite5m', 'cacheWrite1h'] as const),
]
const COLUMNS = [
  ...['at', 'local', 'key', 'isOther', ...COUNTS, 'credits', 'cacheSaved'],
  ...['firstByteP50Ms', 'firstByteP95Ms', 'totalP50Ms', 'totalP95Ms'],
]

export function usageFilePlugin(
  options: UsageOptions & {
    readonly accounts: Pick<Accounts, 'session' | 'requireSession' | 'attempt'>
  },
): Plugin {
  const { accounts } = options
  const query = z.object({ ...usageFields, format: z.enum(['csv', 'json']) })
  return (app) => {
    app.get('/api/usage/file', { exposeHeadRoute: false }, async (request, reply) => {
      const session = accounts.requireSession(await accounts.session(headersOf(request)))
      const { format, ...sent } = validate(query, request.query)
      await requireAllowance(accounts, 'GET /api/usage/file', session, FILE_ALLOWANCE)
      const zone = sent.zone ?? session.zone ?? undefined
      const usage = await readUsage(options, session.book, { ...sent, zone })
      for (const cookie of session.cookies) reply.header('set-cookie', cookie)
      const name = `usage-${usage.split}-${usage.step}-${usage.from}-${usage.to}.${format}`
      reply.header('content-disposition', `attachment; filename="${name}"`)
      if (format === 'json') return reply.type('application/json').send(JSON.stringify(usage))
      return reply.type('text/csv; charset=utf-8').send(csvOf(usage))
    })
  }
}

/** One line for each key of each step that has requests. */
function csvOf({ buckets }: Usage): string {
  const lines = buckets.flatMap(({ at, local, series }) =>
    series.map((one) => csvLine([at, local, one.key, isOther(one), ...figures(one)])),
  )
  return BYTE_ORDER_MARK + csvLine(COLUMNS) + lines.join('')
}

function isOther({ isOther: is }: UsageSeries): Field {
  return is === true ? 'true' : null
}

function figures(used: UsageFigures): Field[] {
  const { firstByte, total, credits, cacheSaved } = used
  return [
    ...COUNTS.map((name) => ({ number: used[name] })),
    ...[credits, cacheSaved].map(({ exact }) => ({ number: exact })),
    ...[firstByte?.p50, firstByte?.p95, total?.p50, total?.p95].map((ms) =>
      ms === undefined ? null : { number: String(ms) },
    ),
  ]
}
