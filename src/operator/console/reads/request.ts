// One request with the arithmetic of its price, which answers "where did my credits go".
import type { Entry } from '../../../ledger/ledger.ts'
import { holdIdOf, requestIdOf } from '../../../platform/ids.ts'
import { type ChargeLine, chargeLines } from '../../../units/charge-lines.ts'
import { creditsText, micro } from '../../../units/credits.ts'
import { millionthsText } from '../../../units/price.ts'
import type { OperatorModules } from '../../desk/modules.ts'
import type * as contract from '../contract/contract.ts'
import { ConsoleRefusal } from '../refusals.ts'
import { creditsOf, timeOf, timeOrNull } from './amounts.ts'

/** By our id of the request. Refuses: thing_unknown. */
export async function readRequest(
  { ledger, accounts }: Pick<OperatorModules, 'ledger' | 'accounts'>,
  text: string,
): Promise<contract.RequestDetails> {
  const hold = holdIdOf(text)
  const facts = hold === undefined ? undefined : await ledger.request(hold)
  if (hold === undefined || facts === undefined) {
    throw new ConsoleRefusal('thing_unknown', 'There is no such request.')
  }
  const [owner, entry] = await Promise.all([
    accounts.ownerOf(facts.book),
    facts.entry === null ? undefined : ledger.usage.find(facts.book, hold),
  ])
  const { model, state, ending, vendorRequestId } = facts
  return {
    ...{ model, state, ending, vendorRequestId },
    id: requestIdOf(facts.id),
    book: String(facts.book),
    email: owner?.email ?? null,
    reason: entry?.kind === 'void' ? entry.note : null,
    createdAt: timeOf(facts.createdAt),
    closedAt: timeOrNull(facts.closedAt),
    held: creditsOf(facts.granted),
    entry: facts.entry === null ? null : String(facts.entry),
    charge: entry?.kind === 'charge' ? chargeOf(entry) : null,
    session: entry?.details.sessionId ?? null,
    totalMs: entry?.details.totalMs ?? null,
  }
}

function chargeOf(entry: Entry): contract.RequestDetails['charge'] {
  const { list, answeredBy, lines, passes, uses } = chargeLines(entry)
  return {
    catalogueVersion: entry.catalogueVersion,
    list,
    lines: [
      ...lines.map((line) => priceLine(line, answeredBy)),
      ...passes.flatMap((pass) => pass.lines.map((line) => priceLine(line, pass.model))),
      ...uses.map(({ feature, count, each, cost }) => ({
        ...{ kind: feature, model: null, count: String(count) },
        ...{ each: creditsText(each), credits: creditsOf(cost) },
      })),
    ],
    priced: creditsOf(entry.priced ?? micro(0n)),
    writtenOff: creditsOf(entry.writtenOff ?? micro(0n)),
    // An entry's amount is what it adds to the book, so the amount of a charge is negative.
    charged: creditsOf(micro(-entry.amount)),
    balanceBefore: creditsOf(micro(entry.balance - entry.amount)),
    balanceAfter: creditsOf(entry.balance),
  }
}

function priceLine({ kind, count, each, cost }: ChargeLine, model: string | null) {
  return {
    ...{ kind, model, count: String(count) },
    ...{ each: millionthsText(each), credits: creditsOf(cost) },
  }
}
