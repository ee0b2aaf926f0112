// The page at `/` for a human who plays payer, bank and staff: the newest payments with buttons,
// the newest notices with our answers. Plain forms that post to /sim; no script.
import type { ServerResponse } from 'node:http'
import type { Payment, Refund } from './objects.ts'
import type { Parts } from './parts.ts'
import type { Delivery } from './webhooks.ts'

const shown = { payments: 30, refunds: 20, deliveries: 30 } as const

const sheet = `
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}
table{border-collapse:collapse;width:100%;margin:0 0 2rem}
td,th{text-align:left;padding:.3rem .6rem;border-top:1px solid #8886;vertical-align:top}
form{display:inline}
code{font-size:.85em}
:root{color-scheme:light dark}
`

export function showConsole(response: ServerResponse, parts: Parts): void {
  const { store, webhooks } = parts
  const payments = store.payments().slice(-shown.payments).reverse()
  const refunds = store.refunds.all().slice(-shown.refunds).reverse()
  const deliveries = webhooks.deliveries(shown.deliveries).reverse()
  const now = new Date(store.now()).toISOString()
  const { shopId, webhookUrl } = store.settings
  const page = [
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Bank stand-in</title>',
    `<meta name="viewport" content="width=device-width"><style>${sheet}</style>`,
    '<h1>Bank stand-in</h1>',
    `<p>Shop ${quoted(shopId)}, notices to ${quoted(webhookUrl ?? 'nobody')}.`,
    `The clock says ${now}.`,
    button('advance', '+1 minute', { minutes: '1' }),
    button('advance', '+1 hour', { hours: '1' }),
    button('advance', '+1 day', { hours: '24' }),
    button('reset', 'Forget everything', {}),
    '</p><h2>Payments</h2>',
    table(['Created', 'Payment', 'Sum', 'Status', 'Do'], payments.map(paymentRow)),
    '<h2>Refunds</h2>',
    table(['Created', 'Refund', 'Sum', 'Status', 'Do'], refunds.map(refundRow)),
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
    created_at,
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
  return [created_at, `<code>${quoted(id)}</code>`, amount.value, status, doings.join(' ')]
}

function deliveryRow(delivery: Delivery): string[] {
  const { at, event, objectId, attempt, outcome, status, error, nextAt } = delivery
  const result = [outcome, status ?? error ?? '', nextAt === null ? '' : `again at ${nextAt}`]
  return [at, quoted(event), `<code>${quoted(objectId)}</code>`, `${attempt}`].concat(
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

/** The cells are already HTML. */
function table(heads: readonly string[], rows: readonly string[][]): string {
  const head = heads.map((name) => `<th>${name}</th>`).join('')
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
  return `<table><tr>${head}</tr>${body.join('\n')}</table>`
}

function quoted(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
