// Paying by SBP: the page with the QR code that waits for the bank, and the bank app that a phone
// opens from the code. The two share state only through the store.
import QRCode from 'qrcode'
import { badge, factsOf, linkButton, payPage, timeOf, type View } from './pages-layout.ts'
import { html, type Markup, raw } from './pages-markup.ts'
import { closing, type Drawn, endPage, methodsOf } from './pages-pay.ts'

/** The page contains both; the width of the window decides which one is visible. */
export async function sbpPage(view: View, isChoice: boolean, attemptsSeen: number): Promise<Drawn> {
  const { words, payment } = view
  const next = view.at('/sbp', { seen: attemptsSeen })
  // Error correction level M; scanners need a white margin of four modules.
  const code = await QRCode.toString(payment.sim.sbpLink, {
    type: 'svg',
    errorCorrectionLevel: 'M',
    margin: 4,
  })
  const isSwitched = view.language !== payment.sim.locale
  const link = `${payment.sim.sbpLink}${isSwitched ? `&lang=${view.language}` : ''}`
  const pane = html`<h1>${words.sbpTitle}</h1>
    ${methodsOf(view, 'sbp', isChoice)}
    <div class="scan by-desktop"><p>${words.sbpScan}</p>
    <div class="qr" role="img" aria-label="${words.sbpCode}">${raw(code)}</div>
    <a class="quiet" href="${link}" target="_blank"
      rel="noopener">${words.sbpLink}${newTab(view)}</a></div>
    <div class="by-phone"><p>${words.sbpPhone}</p>
    <a class="button primary" href="${link}" target="_blank"
      rel="noopener">${words.sbpOpen}${newTab(view)}</a></div>
    <div class="waiting" data-status="${view.at('/status')}" data-attempts="${attemptsSeen}"
      data-next="${next}"><span class="dot"></span><p role="status">${words.sbpWaiting}</p></div>
    ${linkButton(words.sbpCheck, next, 'plain')}
    ${closing(view)}`
  return { ...payPage(view, { title: words.sbpTitle, pane }), watch: next }
}

function newTab({ words }: View): Markup {
  return html`<span class="unseen"> (${words.newTab})</span>`
}

export function appPage(view: View): Drawn {
  const { words } = view
  const body = html`<section class="pane"><h1>${words.appTitle}</h1>
    <dl class="facts">${factsOf(view)}${timeOf(view, view.at(''))}</dl>
    <form class="actions" method="post" action="${view.at('')}" aria-label="${words.appTitle}">
    <button class="button primary" type="submit" name="answer"
      value="confirm">${words.appConfirm}</button>
    <button class="button plain" type="submit" name="answer" value="refuse">${words.refuse}</button>
    </form></section>`
  return { title: words.appTitle, body, isNarrow: true }
}

/** The app after a transfer: it sends the payer back to the payment page, wherever that is open. */
export function appDonePage(view: View): Drawn {
  const { words } = view
  return endPage(words, { kind: 'good', title: words.appDoneTitle, lines: [words.appDone] }, view)
}

export function appRefusedPage(view: View): Drawn {
  const { words } = view
  const body = html`<section class="pane">${badge('bad')}<div class="lead">
    <h1>${words.appRefusedTitle}</h1><p>${words.appRefused}</p></div>
    ${linkButton(words.appAgain, view.at(''), 'plain')}</section>`
  return { title: words.appRefusedTitle, body, isNarrow: true }
}
