// Closes accounts at the end of random sequences: with requests running, links unpaid, refunds that
// the bank refuses, disputes, stopped closings and decisions of a person. Every account comes to
// its end: every hold and refund has ended, nothing is left in its book, and nothing that was paid
// is forfeited unless the owner, or a person, agreed to it. Planted bugs are found.
import type { Drill } from '../../support/drill.ts'
import { modelDrill } from './model.ts'
import { closingBugs } from './planted.ts'

export const drill: Drill = modelDrill({
  ...{ name: 'closing', full: 3_000, short: { batches: 2, sequences: 2 } },
  ...{ endsClosed: true, planted: closingBugs },
})
