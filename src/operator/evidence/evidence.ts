// op disputes evidence: prints the file of a dispute that is sent to the bank, as an HTML page, or
// its facts as JSON.
import { creditsText } from '../../units/credits.ts'
import { rublesText } from '../../units/kopecks.ts'
import { EXIT_DONE, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { collectEvidence, type Evidence, spentOf } from './facts.ts'
import { evidencePage } from './page.ts'
import { LANGUAGES, type Language } from './words.ts'

export async function printEvidence(desk: Desk, text: string): Promise<number> {
  const language = languageOf(desk.text('language'))
  const evidence = await collectEvidence(desk.modules, text)
  if (desk.isJson) desk.say(evidenceJson(evidence), [])
  else desk.print(evidencePage(evidence, language))
  return EXIT_DONE
}

/** The bank of the provider reads Russian. */
function languageOf(given = 'ru'): Language {
  const language = LANGUAGES.find((one) => one === given)
  if (language === undefined) throw usageError(`--language is ${LANGUAGES.join(' or ')}`)
  return language
}

function evidenceJson({ dispute, purchase, use, lot, requests, ...rest }: Evidence): object {
  const { order, refunds } = purchase
  return {
    ...rest,
    dispute: { ...dispute, amount: rublesText(dispute.amount) },
    order: { ...order, price: rublesText(order.price), credits: creditsText(order.credits) },
    refunds: refunds.map((one) => ({ ...one, amount: rublesText(one.amount) })),
    spentOfPack: lot === null ? null : creditsText(spentOf(lot)),
    use: use.map((one) => ({ ...one, spent: creditsText(one.spent) })),
    requests: requests.map((one) => ({ ...one, credits: creditsText(one.credits) })),
  }
}
