// The page at `/` for a human who plays payer, bank and staff: the newest payments with buttons,
// the newest notices with our answers. Plain forms that post to /sim; no script.
import type { ServerResponse } from 'node:http'
import type { Payment, Refund } from './objects.ts'
import type { Parts } from './parts.ts'
import type { Receipt } from './receipts.ts'
import type { Delivery } from './webhooks.ts'

const shown = { payments: 30, refunds: 20, receipts: 30, deliveries: 30 } as const

const sheet = `
:root{color-scheme:light dark;--page:light-dark(#eef1f0,#0f1413);
--surface:light-dark(#fff,#181e1d);--line:light-dark(#d8dedc,#323c39);
--ink:light-dark(#141a18,#edf1f0);--muted:light-dark(#55605d,#a8b3af);
--accent:light-dark(#0b6b53,#55cfa9)}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,'Segoe UI',Roboto,'Noto Sans',sans-serif;margin:0 auto;
max-width:76rem;padding:1.5rem 1rem 3rem;background:var(--page);color:var(--ink)}
h1{font-size:1.5rem;margin:0 0 .25rem}
h2{font-size:1.0625rem;margin:2rem 0 .5rem}
p{margin:.25rem 0 1rem;color:var(--muted);overflow-wrap:anywhere}
a{color:var(--accent);text-underline-offset:.2em}
.wide{overflow-x:auto;background:var(--surface);border:1px solid var(--line);border-radius:12px}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.5rem .75rem;vertical-align:top}
th{color:var(--muted);font-size:.8125rem;font-weight:600;white-space:nowrap}
td{border-top:1px solid var(--line)}
td:first-child,td:nth-child(3){white-space:nowrap;font-variant-numeric:tabular-nums}
.none{padding:1rem .75rem;margin:0}
form{display:inline-block;margin:0 .25rem .25rem 0}
button{font:inherit;min-height:2.25rem;padding:0 .75rem;cursor:pointer;white-space:nowrap;
color:var(--ink);background:var(--surface);border:1px solid var(--line);border-radius:8px}
button:hover{border-color:var(--muted)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
@media (max-width:44rem){
table,tbody,tr,td{display:block}
tr:has(th){display:none}
tr{padding:.5rem 0}
tr:not(:nth-child(2)){border-top:1px solid var(--line)}
td{border:0;padding:.125rem .75rem;overflow-wrap:anywhere}}
code{font:.8125rem/1.5 ui-monospace,Menlo,Consolas,monospace}
`

export function showConsole(response: ServerResponse, parts: Parts): void {
  const { store, webhooks } = parts
  const payments = store.payments().slice(-shown.payments).reverse()
  const refunds = store.refunds.all().slice(-shown.refunds).reverse()
  const receipts = store.receipts.all().slice(-shown.receipts).reverse()
  const deliveries = webhooks.deliveries(shown.deliveries).reverse()
  const now = timeText(new Date(store.now()).toISOString())
  const { shopId, webhookUrl } = store.settings
  const page = [
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Bank stand-in</title>',
    `<meta name="viewport" content="width=device-width, initial-scale=1"><style>${sheet}</style>`,
    '<h1>Bank stand-in</h1>',
    `<p>Shop ${quoted(shopId)}, notices to ${quoted(webhookUrl ?? 'nobody')}.`,
    `The clock says ${now} UTC.</p><div>`,
    button('advance', '+1 minute', { minutes: '1' }),
    button('advance', '+1 hour', { hours: '1' }),
    button('advance', '+1 day', { hours: '24' }),
    button('reset', 'Forget everything', {}),
    '</div><h2>Payments</h2>',
    table(['Created', 'Payment', 'Sum', 'Status', 'Do'], payments.map(paymentRow)),
    '<h2>Refunds</h2>',
    table(['Created', 'Refund', 'Sum', 'Status', 'Do'], refunds.map(refundRow)),
    '<h2>Receipts</h2>',
    table(['Created', 'Receipt', 'Sum', 'Status', 'Do'], receipts.map(receiptRow)),
    '<h2>Notices</h2>',
    table(['Sent', 'Event', 'About', 'Try', 'Outcome'], deliveries.map(deliveryRow)),
    '</html>',
  ].join('\n')
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    'cache-control': 'no-store',
  })
  response.end(page)
}

function paymentRow(payment: Payment): string[] {
  const { id, status, amount, created_at, metadata, description } = payment
  const paymentId = id
  const doings = {
    pending: [
      button('pay', 'Pay by card', { paymentId, method: 'bank_card' }),
      button('pay', 'Pay by SBP', { paymentId, method: 'sbp' }),
      button('decline', 'Decline', { paymentId, reason: 'insufficient_funds' }),
      button('expire', 'Expire', { paymentId }),
    ],
    waiting_for_capture: [button('cancel', 'Cancel', { paymentId })],
    succeeded: [button('refund', 'Refund in merchant portal', { paymentId })],
    canceled: [],
  }
  const link = `<a href="/pay/${quoted(id)}"><code>${quoted(id)}</code></a>`
  const words = [description, metadata?.order_id].filter((word) => word !== undefined)
  return [
    timeText(created_at),
    [link, ...words.map(quoted)].join('<br>'),
    quoted(`${amount.value} ${amount.currency}`),
    status,
    doings[status].join(' '),
  ]
}

function refundRow({ id, status, amount, created_at }: Refund): string[] {
  const doings =
    status === 'pending'
      ? [
          button('complete-refund', 'Complete', { refundId: id }),
          button('cancel-refund', 'Cancel', { refundId: id }),
        ]
      : []
  return [
    timeText(created_at),
    `<code>${quoted(id)}</code>`,
    amount.value,
    status,
    doings.join(' '),
  ]
}

function receiptRow({ id, type, status, settlements, items, sim, ...numbers }: Receipt): string[] {
  const doings = [
    button('receipt', 'Register', { receiptId: id, status: 'succeeded' }),
    button('receipt', 'Refuse', { receiptId: id, status: 'canceled' }),
  ]
  const sums = items.map(({ payment_mode, amount }) => `${payment_mode} ${amount.value}`)
  const kinds = [type, ...settlements.map((one) => one.type), ...sums].join(', ')
  const { fiscal_document_number: document = 'no number' } = numbers
  return [
    timeText(new Date(sim.createdMs).toISOString()),
    `<code>${quoted(id)}</code><br>${quoted(numbers.payment_id ?? '')}`,
    quoted(kinds),
    quoted(`${status}, ${document}`),
    doings.join(' '),
  ]
}

function deliveryRow(delivery: Delivery): string[] {
  const { at, event, objectId, attempt, outcome, status, error, nextAt } = delivery
  const result = [
    outcome,
    status ?? error ?? '',
    nextAt === null ? '' : `again at ${timeText(nextAt)}`,
  ]
  return [timeText(at), quoted(event), `<code>${quoted(objectId)}</code>`, `${attempt}`].concat(
    quoted(result.join(' ')),
  )
}

function button(act: string, label: string, fields: Record<string, string>): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${quoted(value)}">`,
  )
  const inside = `${inputs.join('')}<button>${label}</button>`
  return `<form method="post" action="/sim/${act}">${inside}</form>`
}

/** A time in UTC to the second: `2026-11-19 01:54:30`. */
function timeText(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ')
}

/** The cells are already HTML. */
function table(heads: readonly string[], rows: readonly string[][]): string {
  if (rows.length === 0) return '<div class="wide"><p class="none">None yet.</p></div>'
  const head = heads.map((name) => `<th>${name}</th>`).join('')
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
  return `<div class="wide"><table><tr>${head}</tr>${body.join('\n')}</table></div>`
}

function quoted(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
