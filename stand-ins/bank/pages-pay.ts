// The payment page itself: the card form with its messages, the 3-D Secure code, the decline, and
// the pages of a payment that has ended.
import {
  type CardField,
  type CardProblems,
  type CardTyped,
  groupedNumber,
  type Outcome,
  testCards,
} from './pages-cards.ts'
import { badge, factsOf, linkButton, type Page, payPage, type View } from './pages-layout.ts'
import { html, type Markup, raw } from './pages-markup.ts'
import type { Reason } from './pages-reasons.ts'
import { sumText, type Words } from './words.ts'

export type Drawn = Pick<Page, 'title' | 'body' | 'isNarrow' | 'leaveTo' | 'watch'>

/** Card and SBP as links, when both are offered. */
export function methodsOf(view: View, current: 'card' | 'sbp', isChoice: boolean): Markup | null {
  if (!isChoice) return null
  const { words } = view
  const item = (name: 'card' | 'sbp', href: string) => {
    const mark = name === current && html`aria-current="page"`
    return html`<li><a href="${href}" ${mark}>${words[name]}</a></li>`
  }
  return html`<nav class="methods" aria-label="${words.methods}"><ul>
    ${item('card', view.at(''))}${item('sbp', view.at('/sbp'))}
    </ul></nav>`
}

/** Leaves the payment as it is; the shop gets no notice. */
export function closing({ words, payment }: View): Markup | null {
  if (payment.sim.returnUrl === null) return null
  return html`<div class="aside"><a class="quiet" href="${payment.sim.returnUrl}"
      aria-describedby="close-hint">${words.close}</a>
    <p class="muted small" id="close-hint">${words.closeHint}</p></div>`
}

type Filled = { readonly typed?: CardTyped; readonly problems?: CardProblems }

// Fits the longest number with its spaces, and a date written as 12 / 2030.
const cardFields = {
  number: { autocomplete: 'cc-number', charsMax: 30 },
  expiry: { autocomplete: 'cc-exp', charsMax: 9 },
  cvc: { autocomplete: 'cc-csc', charsMax: 4 },
}

export function cardPage(view: View, isChoice: boolean, { typed, problems }: Filled = {}): Drawn {
  const { words } = view
  const firstWrong = Object.keys(problems ?? {})[0]
  const field = (name: CardField, label: string, hint?: string) => {
    const problem = problems?.[name]
    return fieldOf({
      ...cardFields[name],
      name,
      label,
      ...(hint === undefined ? {} : { hint }),
      // Typed values are kept, except the CVC.
      value: name === 'cvc' ? '' : (typed?.[name] ?? ''),
      ...(problem === undefined ? {} : { problem: words[problem] }),
      isFocused: firstWrong === name,
    })
  }
  const pane = html`<h1>${words.payTitle}</h1>
    ${methodsOf(view, 'card', isChoice)}
    ${problems && html`<p class="alarm" role="alert">${words.checkFields}</p>`}
    <form method="post" action="${view.at('/card')}" novalidate aria-label="${words.card}">
    <div class="fields">
    ${field('number', words.cardNumber)}
    <div class="pair">
    ${field('expiry', words.expiry, words.expiryHint)}
    ${field('cvc', words.cvc, words.cvcHint)}
    </div>
    </div>
    <button class="button primary" type="submit">
    ${words.pay(sumText(view.language, view.payment.amount))}</button>
    </form>
    ${closing(view)}
    ${cardTable(words)}`
  return payPage(view, { title: words.payTitle, pane, isWrong: problems !== undefined })
}

type FieldOptions = {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly autocomplete: string
  readonly charsMax: number
  readonly hint?: string
  readonly problem?: string
  readonly isFocused?: boolean
}

// A message says what to enter, so it takes the place of the hint.
function fieldOf(options: FieldOptions): Markup {
  const { name, label, value, problem } = options
  const hint = problem === undefined ? options.hint : undefined
  const about = [problem && `${name}-problem`, hint && `${name}-hint`].filter(Boolean).join(' ')
  return html`<div class="field"><label for="${name}">${label}</label>
    <input id="${name}" name="${name}" type="text" inputmode="numeric" required
      autocomplete="${options.autocomplete}" maxlength="${options.charsMax}" value="${value}"
      ${about !== '' && html`aria-describedby="${about}"`}
      ${problem && html`aria-invalid="true"`} ${options.isFocused && html`autofocus`}>
    ${problem && html`<p class="wrong" id="${name}-problem">${problem}</p>`}
    ${hint && html`<p class="muted small" id="${name}-hint">${hint}</p>`}
    </div>`
}

function cardTable(words: Words): Markup {
  const row = ([number, outcome]: [string, Outcome]) =>
    html`<tr><td>${groupedNumber(number)}</td><td>${outcomeText(words, outcome)}</td></tr>`
  return html`<details><summary>${words.testCards}</summary>
    <p class="muted small">${words.testCardsHint} ${words.testCardsOther}</p>
    <table><thead><tr><th scope="col">${words.cardNumber}</th>
    <th scope="col">${words.outcome}</th></tr></thead>
    <tbody>${[...testCards].map(row)}</tbody></table></details>`
}

/** A long code may break after its underscores, and not in the middle of a word. */
function outcomeText(words: Words, outcome: Outcome): string | Markup {
  if (outcome.kind === 'declined') return raw(outcome.reason.replaceAll('_', '_<wbr>'))
  return outcome.kind === 'code' ? words.outcomeCode : words.outcomePaid
}

/** 3-D Secure: the bank that issued the card asks for a code. */
export function codePage(view: View, last4: string, isMissing = false): Drawn {
  const { words } = view
  const code = fieldOf({
    name: 'code',
    label: words.secureCode,
    value: '',
    autocomplete: 'one-time-code',
    charsMax: 12,
    hint: words.secureHint,
    ...(isMissing ? { problem: words.secureMissing } : {}),
    isFocused: true,
  })
  const pane = html`<div class="lead"><h1>${words.secureTitle}</h1>
    <p class="muted">${words.secureIntro(last4)}</p></div>
    <form method="post" action="${view.at('/3ds')}" novalidate aria-label="3-D Secure">
    <div class="code">${code}</div>
    <div class="actions">
    <button class="button primary" type="submit" name="answer"
      value="confirm">${words.confirm}</button>
    <button class="button plain" type="submit" name="answer" value="refuse">${words.refuse}</button>
    </div>
    </form>`
  return payPage(view, { title: words.secureTitle, pane, isWrong: isMissing })
}

/** A failed attempt: the payer tries again in the same payment, or gives up. */
export function declinedPage(view: View, said: { title: string; reason: Reason; retry: string }) {
  const { words } = view
  const pane = html`${badge('bad')}<div class="lead" role="alert"><h1>${said.title}</h1>
    <p class="reason">${said.reason.title}</p>
    <p>${said.reason.advice}</p>
    <p class="muted">${words.declinedSafe}</p></div>
    <form class="actions" method="post" action="${view.at('/give-up')}"
      aria-label="${words.giveUp}">
    ${linkButton(words.retry, said.retry, 'primary')}
    <button class="button plain" type="submit"
      aria-describedby="give-up-hint">${words.giveUp}</button>
    <p class="muted small" id="give-up-hint">${words.giveUpHint}</p>
    </form>`
  return payPage(view, { title: said.title, pane })
}

export type Said = {
  readonly kind: 'good' | 'bad' | 'late'
  readonly title: string
  readonly lines: readonly string[]
}

/** The payment has ended; `view` is null when it never existed. */
export function endPage(words: Words, said: Said, view: View | null): Drawn {
  const returnUrl = view?.payment.sim.returnUrl ?? null
  const body = html`<section class="pane">${badge(said.kind)}<div class="lead">
    <h1>${said.title}</h1>${said.lines.map((line) => html`<p>${line}</p>`)}</div>
    ${view && html`<dl class="facts">${factsOf(view)}</dl>`}
    ${returnUrl !== null && linkButton(words.toShop, returnUrl, 'primary')}</section>`
  return { title: said.title, body, isNarrow: true }
}
