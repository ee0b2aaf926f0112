// The evidence file as one HTML page that prints on A4: no script, no link to another host, so that
// a bank can open and keep it.
import { escapeHtml } from '../../platform/html.ts'
import { createLocalTime } from '../../platform/local-time.ts'
import { formatCount, formatCredits, formatRubles } from '../desk/amounts.ts'
import { type Evidence, spentOf } from './facts.ts'
import { type EvidenceWords, type Language, words } from './words.ts'

type Context = {
  readonly say: EvidenceWords
  /** `2026-11-18 17:12:03 +03:00`. */
  moment(at: Date | null): string
}

export function evidencePage(evidence: Evidence, language: Language): string {
  const say = words[language]
  const local = createLocalTime(evidence.timeZone)
  const moment = (at: Date | null) =>
    at === null ? say.unknown : local(at).replace(/T(.{8})\.\d+/, ' $1 ')
  const context = { say, moment }
  const title = `${say.title} ${evidence.dispute.id}`
  return [
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><main>`,
    `<h1>${escapeHtml(title)}</h1>`,
    paragraph(say.lead),
    paragraph(`${say.made}: ${moment(evidence.madeAt)}. ${zoneLine(say, evidence)}`),
    ...aboutDispute(evidence, context),
    ...aboutPayment(evidence, context),
    ...aboutBuyer(evidence, context),
    ...aboutDelivery(evidence, context),
    ...aboutUse(evidence, context),
    ...aboutRefunds(evidence, context),
    '</main></body></html>',
    '',
  ].join('\n')
}

function zoneLine(say: EvidenceWords, { timeZone }: Evidence): string {
  return say.zone.replace('{zone}', timeZone)
}

function aboutDispute({ dispute, purchase }: Evidence, { say, moment }: Context): string[] {
  const { order } = purchase
  return [
    heading(say.dispute),
    facts([
      [say.id, dispute.id],
      [say.amount, formatRubles(dispute.amount)],
      [say.opened, moment(dispute.openedAt)],
      [say.answerBy, moment(dispute.answerBy)],
    ]),
    heading(say.order),
    facts([
      [say.id, order.id],
      [say.sold, order.packTitle],
      [say.credits, formatCredits(order.credits)],
      [say.price, formatRubles(order.price)],
      [say.ordered, moment(order.createdAt)],
      ...(order.isTopUp ? [[say.topUp, '✓'] as const] : []),
    ]),
  ]
}

function aboutPayment({ purchase }: Evidence, { say, moment }: Context): string[] {
  const { provider, shop, paymentId, method, capturedAt, receiptState } = purchase.order
  return [
    heading(say.payment),
    facts([
      [say.paymentId, paymentId ?? say.unknown],
      [say.provider, [provider, shop].filter(Boolean).join(', ')],
      [say.method, say.methods[method]],
      [say.paidAt, moment(capturedAt)],
      [say.receipt, receiptState === null ? say.none : say.receipts[receiptState]],
    ]),
  ]
}

function aboutBuyer(evidence: Evidence, { say, moment }: Context): string[] {
  const { account, consents, keys, purchase } = evidence
  return [
    heading(say.buyer),
    facts([
      [say.email, purchase.order.email],
      [say.account, account?.id ?? say.unknown],
      [say.confirmed, moment(account?.createdAt ?? null)],
      ...keys.map(({ last4, createdAt }) => [say.key, `${moment(createdAt)} (…${last4})`] as const),
    ]),
    paragraph(say.confirmedHint),
    heading(say.accepted),
    table(
      [say.document, say.version, say.acceptedAt, say.address],
      consents.map((one) => [
        ...[one.document, one.version, moment(one.acceptedAt), one.address ?? say.unknown],
      ]),
      say.none,
    ),
  ]
}

function aboutDelivery({ purchase, emails }: Evidence, { say, moment }: Context): string[] {
  const { creditedAt, credits, lot } = purchase.order
  return [
    heading(say.delivery),
    facts([
      [say.delivered, moment(creditedAt)],
      [say.credits, creditedAt === null ? say.none : formatCredits(credits)],
      [say.entry, lot === null ? say.none : String(lot)],
    ]),
    heading(say.emails),
    table(
      [say.at, say.subject, say.state],
      emails.map((one) => [moment(one.postedAt), one.subject, say.emailStates[one.state]]),
      say.none,
    ),
  ]
}

function aboutUse(evidence: Evidence, { say, moment }: Context): string[] {
  const { use, lot, requests } = evidence
  if (use.length === 0) return [heading(say.use), paragraph(say.noUse)]
  const sum = (of: (one: (typeof use)[number]) => bigint) =>
    use.reduce((total, one) => total + of(one), 0n)
  const all = sum((one) => one.requests)
  const charged = sum((one) => one.charged)
  const times = use.flatMap(({ first, last }) => [first, last]).toSorted((a, b) => +a - +b)
  return [
    heading(say.use),
    facts([
      [say.requests, formatCount(all)],
      [say.charged, formatCount(charged)],
      [say.first, moment(times[0] ?? null)],
      [say.last, moment(times.at(-1) ?? null)],
      ...(lot === null
        ? []
        : ([
            [say.spentOfPack, formatCredits(spentOf(lot))],
            [say.takenBack, formatCredits(lot.takenBack)],
            [say.unspent, formatCredits(lot.unspent)],
          ] as const)),
    ]),
    paragraph(say.addressHint),
    heading(say.byDay),
    table(
      [say.day, say.model, say.requests, say.input, say.output, say.spent],
      [
        ...use.map((one) => [
          ...[one.day, one.model, formatCount(one.requests), formatCount(one.input)],
          ...[formatCount(one.output), formatCredits(one.spent)],
        ]),
        [
          ...[say.total, '', formatCount(all), formatCount(sum((one) => one.input))],
          ...[formatCount(sum((one) => one.output)), formatCredits(sum((one) => one.spent))],
        ],
      ],
      say.none,
    ),
    heading(say.lastRequests),
    table(
      [say.at, say.request, say.model, say.spent, say.session],
      requests.map(({ at, id, model, credits, session }) => [
        ...[moment(at), id, model, formatCredits(credits), session ?? ''],
      ]),
      say.none,
    ),
    ...(BigInt(requests.length) < charged ? [paragraph(say.rest)] : []),
  ]
}

function aboutRefunds({ purchase }: Evidence, { say, moment }: Context): string[] {
  return [
    heading(say.refunds),
    table(
      [say.at, say.amount, say.state, say.reason],
      purchase.refunds.map(({ createdAt, amount, state, reason }) => [
        ...[moment(createdAt), formatRubles(amount), say.refundStates[state], reason],
      ]),
      say.none,
    ),
  ]
}

function heading(text: string): string {
  return `<h2>${escapeHtml(text)}</h2>`
}

function paragraph(text: string): string {
  return `<p>${escapeHtml(text)}</p>`
}

function facts(lines: readonly (readonly [string, string])[]): string {
  const rows = lines.map(
    ([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`,
  )
  return `<dl>${rows.join('')}</dl>`
}

function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): string {
  if (rows.length === 0) return paragraph(none)
  const line = (cells: readonly string[], tag: 'th' | 'td') =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`
  return [
    `<table><thead>${line(heads, 'th')}</thead><tbody>`,
    ...rows.map((row) => line(row, 'td')),
    '</tbody></table>',
  ].join('\n')
}

const STYLE = [
  '@page{size:A4;margin:16mm}',
  'body{margin:0;padding:24px;font:14px/1.45 system-ui,sans-serif;color:#111;background:#fff}',
  'main{max-width:60em;margin:0 auto}h1{font-size:20px;margin:0 0 8px;overflow-wrap:anywhere}',
  'h2{font-size:15px;margin:20px 0 6px;break-after:avoid}p{margin:0 0 6px}',
  'dl{display:grid;grid-template-columns:minmax(9em,16em) 1fr;gap:2px 12px;margin:0}',
  'dt{color:#555}dd{margin:0;overflow-wrap:anywhere}dl+p{margin-top:6px}',
  'table{width:100%;border-collapse:collapse;font-size:12px;font-variant-numeric:tabular-nums}',
  'th,td{text-align:start;vertical-align:top;padding:3px 8px 3px 0;border-bottom:1px solid #ccc;',
  'overflow-wrap:anywhere}th{overflow-wrap:normal}thead{display:table-header-group}',
  'tr{break-inside:avoid}',
  '@media print{body{padding:0;font-size:11px}table{font-size:9px}}',
].join('')
