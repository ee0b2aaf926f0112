// The rules of the ledger as tables that an accountant can read, each run twice: by the one-row
// functions and by the array forms, with the same result. Amounts are whole credits. What a table
// cannot express is tested in calls.test.ts (arrays) and queries.test.ts (what the database
// refuses).
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { TestDatabase } from '../../test/support/harness.ts'
import { createTestDatabase } from '../../test/support/harness.ts'
import type { Form } from '../../test/support/ledger-table-runner.ts'
import { createTableRunner } from '../../test/support/ledger-table-runner.ts'

const tables: Record<string, string> = {
  'a hold sets credits aside, a settle charges once and gives back the rest': `
    book    do                            expected          available held debt
    alice   purchase 1000 as p1           posted                 1000    0    0
    alice   hold r1 300 floor 50          granted 300             700  300    0
    alice   settle r1 120                 charged 120             880    0    0
    alice   settle r1 120                 charged 120                            # once
    alice   settle r1 121                 fault                                  # not the same
    alice   settle r1 120 client_left     fault
    alice   settle unheard 10             fault
    alice   hold r1 300 floor 50          granted 300                            # as it was
    alice   hold r1 301 floor 50          fault
    alice   hold r1 300 floor 51          fault
    alice   hold r1 300 floor 50 fence 9  fault
    bob     hold r1 300 floor 50          fault                     0    0    0  # not his
    bob     settle r1 120                 fault
    bob     void r1                       fault`,

  'holds and settles of one book sent together give the same results as one by one': `
    alice   purchase 1000 as p1           posted                 1000    0    0
    alice   hold r1 100 floor 10          granted 100             900  100    0
    alice   hold r2 100 floor 10          granted 100             800  200    0
    bob     hold r3 100 floor 10          credits_insufficient      0    0    0
    alice   hold r4 900 floor 10          granted 400             400  600    0
    alice   hold r5 150 floor 10          granted 150             250  750    0
    alice   settle r1 40                  charged 40              310  650    0
    alice   settle r4 400                 charged 400             310  250    0
    alice   settle r2 100                 charged 100             310  150    0
    alice   void r5                       voided                  460    0    0
    alice   settle r2 100                 charged 100
    alice   settle r5 10                  fault
    alice   lots                          p1 460`,

  'a hold grants the worst case if it fits, or half of what is left, or the floor, or nothing': `
    alice   purchase 1000 as p1           posted                 1000    0    0
    alice   hold r0 1000 floor 10         granted 1000              0 1000    0  # all of it
    alice   void r0                       voided                 1000    0    0
    alice   hold r1 600 floor 10          granted 600             400  600    0  # more than half
    alice   hold r2 401 floor 10          granted 200             200  800    0  # half
    alice   hold r3 400 floor 150         granted 150              50  950    0  # floor
    alice   hold r4 400 floor 51          credits_insufficient
    alice   hold r5 50 floor 50           granted 50                0 1000    0  # the last
    alice   hold r6 1 floor 1             credits_insufficient
    alice   hold r4 400 floor 51          credits_insufficient                   # none stored
    nobody  hold r7 1 floor 1             book_unknown`,

  'a settle above its hold charges the hold and writes off the rest': `
    alice   purchase 100 as p1            posted                  100    0    0
    alice   hold r1 40 floor 1            granted 40               60   40    0
    alice   settle r1 90                  charged 40, lost 50      60    0    0
    alice   settle r1 90                  charged 40, lost 50
    alice   settle r1 40                  fault
    alice   hold r2 70 floor 1            granted 30               30   30    0
    alice   settle r2 30 client_left      charged 30               30    0    0`,

  'a void charges nothing, and a voided id can be neither settled nor held again': `
    alice   purchase 100 as p1            posted                  100    0    0
    alice   hold r1 40 floor 1            granted 40               60   40    0
    alice   void r1                       voided                  100    0    0
    alice   void r1                       voided
    alice   void r1 upstream_failed       voided                                 # the first counts
    alice   settle r1 10                  fault
    alice   hold r1 40 floor 1            fault
    alice   void late given_up            voided                                 # unknown id
    alice   void late given_up            voided
    alice   hold late 40 floor 1          fault                                  # came too late
    alice   settle late 10                fault
    alice   hold r2 40 floor 1            granted 40               60   40    0
    alice   settle r2 10                  charged 10               90    0    0
    alice   void r2                       settled                                # too late to void
    nobody  void r3                       fault`,

  'a settle whose hold the sweep has voided still charges, at most what is available': `
    alice   purchase 100 as p1            posted                  100    0    0
    alice   hold r1 40 floor 1            granted 40               60   40    0
    alice   hold r2 61 floor 40           granted 40               20   80    0
    alice   hold r3 20 floor 20           granted 20                0  100    0
    alice   void r1 process_lost          voided                   40   60    0
    alice   void r2 overdue               voided                   80   20    0
    alice   void r3 process_lost          voided                  100    0    0
    alice   settle r1 30                  charged 30               70    0    0
    alice   settle r1 30                  charged 30
    alice   settle r1 31                  fault
    alice   settle r2 45                  charged 40, lost 5       30    0    0  # its hold
    alice   hold r4 25 floor 25           granted 25                5   25    0
    alice   settle r3 20                  charged 5, lost 15        0   25    0  # what is left
    alice   settle r3 20                  charged 5, lost 15
    alice   void r3                       settled
    alice   settle r4 25                  charged 25                0    0    0`,

  'the daily limit counts held credits and is reset at midnight': `
    alice   purchase 1000 as p1           posted                 1000    0    0
    alice   limit day 100                 done
    alice   hold r1 60 floor 60           granted 60              940   60    0
    alice   hold r2 50 floor 50           day_limit_reached                      # 40 left
    alice   hold r3 60 floor 10           granted 20              920   80    0  # half of 40
    alice   settle r1 60                  charged 60              920   20    0
    alice   settle r3 10                  charged 10              930    0    0
    alice   hold r4 40 floor 40           day_limit_reached                      # 30 left
    alice   hold r5 2000 floor 2000       credits_insufficient
    alice   hold r6 30 floor 30           granted 30              900   30    0
    *       clock 1 day                   done
    alice   hold r7 70 floor 70           granted 70              830  100    0  # r6 counts today
    alice   settle r6 30                  charged 30              830   70    0
    alice   hold r8 1 floor 1             day_limit_reached
    alice   limit none                    done
    alice   hold r8 1 floor 1             granted 1               829   71    0
    alice   limit day 0                   done
    alice   hold r9 1 floor 1             day_limit_reached`,

  'spending faster than the velocity limit stops the book until it is resumed': `
    alice   purchase 1000 as p1           posted                 1000    0    0
    alice   limit velocity 100 per 60     done
    alice   hold r1 100 floor 100         granted 100             900  100    0
    alice   hold r2 100 floor 100         granted 100             800  200    0
    alice   hold r3 100 floor 100         granted 100             700  300    0
    alice   settle r1 100                 charged 100             700  200    0  # at the limit
    alice   hold r4 10 floor 10           granted 10              690  210    0
    alice   settle r2 1                   charged 1               789  110    0  # above it
    alice   hold r5 1 floor 1             velocity_stopped
    alice   hold r4 10 floor 10           granted 10                             # known already
    alice   settle r4 10                  charged 10              789  100    0  # served, so paid
    *       clock 2 minutes               done
    alice   hold r5 1 floor 1             velocity_stopped                       # until resumed
    alice   resume velocity_stopped       done
    alice   hold r5 90 floor 90           granted 90              699  190    0
    alice   settle r5 90                  charged 90              699  100    0  # a new window
    alice   hold r6 10 floor 10           granted 10              689  110    0
    *       clock 4 minutes               done
    alice   settle r3 90                  charged 90              699   10    0  # and another
    alice   hold r7 1 floor 1             granted 1               698   11    0`,

  'resuming after a velocity stop starts a new window': `
    alice   purchase 1000 as p1           posted                 1000    0    0
    alice   limit velocity 100 per 60     done
    alice   hold r1 150 floor 150         granted 150             850  150    0
    alice   settle r1 150                 charged 150             850    0    0
    alice   hold r2 50 floor 50           velocity_stopped
    alice   resume velocity_stopped       done
    alice   hold r2 50 floor 50           granted 50              800   50    0
    alice   settle r2 50                  charged 50              800    0    0
    alice   hold r3 50 floor 50           granted 50              750   50    0`,

  'a blocked book or an old fence refuses new holds; earlier holds are still charged': `
    alice   purchase 100 as p1            posted                  100    0    0
    alice   hold r1 10 floor 10           granted 10               90   10    0
    alice   block owner_suspended         done
    alice   hold r2 10 floor 10           owner_suspended
    alice   block operator_blocked        done
    alice   hold r2 10 floor 10           operator_blocked
    alice   block owner_suspended         done                                   # outranked
    alice   resume owner_suspended        not so
    alice   hold r2 10 floor 10           operator_blocked
    alice   hold r1 10 floor 10           granted 10                             # known already
    alice   settle r1 10                  charged 10               90    0    0
    alice   resume operator_blocked       done
    alice   hold r3 10 floor 10           granted 10               80   10    0
    alice   raise                         fence 1
    alice   hold r4 10 floor 10 fence 0   key_revoked
    alice   hold r3 10 floor 10 fence 0   granted 10                             # known already
    alice   settle r3 5                   charged 5                85    0    0
    alice   hold r5 10 floor 10 fence 1   granted 10               75   10    0
    nobody  raise                         book_unknown`,

  'a forced debit makes debt; credits and released holds pay it first': `
    alice   purchase 100 as p1            posted                  100    0    0
    alice   hold r1 30 floor 30           granted 30               70   30    0
    alice   hold r2 30 floor 30           granted 30               40   60    0
    alice   hold r3 30 floor 30           granted 30               10   90    0
    alice   force 50 as f1                posted                    0   90   40
    alice   force 50 as f1                repeated
    alice   force 51 as f1                fault
    bob     force 50 as f1                fault                     0    0    0
    alice   hold r4 1 floor 1             debt_outstanding
    alice   settle r1 20                  charged 20                0   60   30  # 10 pay debt
    alice   void r2                       voided                    0   30    0  # 30 pay debt
    alice   force 35 as f2                posted                    0   30   35
    alice   settle r3 25                  charged 25                0    0   30
    alice   purchase 10 as p2             posted                    0    0   20
    alice   adjust 5 as a1                posted                    0    0   15
    alice   promo 20 as c1                posted                    5    0    0
    alice   hold r4 1 floor 1             granted 1                 4    1    0
    nobody  force 1 as f3                 book_unknown`,

  'a late settle of a book in debt charges nothing': `
    alice   purchase 50 as p1             posted                   50    0    0
    alice   hold r1 50 floor 50           granted 50                0   50    0
    alice   void r1 process_lost          voided                   50    0    0
    alice   force 60 as f1                posted                    0    0   10
    alice   settle r1 20                  charged 0, lost 20`,

  'a posting is written once per kind and reference': `
    alice   purchase 100 as p1            posted                  100    0    0
    alice   purchase 100 as p1            repeated
    alice   purchase 101 as p1            fault
    bob     purchase 100 as p1            fault                     0    0    0
    alice   promo 7 as p1                 posted                  107    0    0  # another kind
    alice   promo 7 as p1                 repeated
    alice   transfer 3 as t1              posted                  110    0    0
    alice   transfer 3 as t1              repeated
    alice   adjust 5 as a1                posted                  115    0    0
    alice   adjust 5 as a1                repeated
    alice   adjust -5 as a1               fault
    alice   adjust -15 as a2              posted                  100    0    0
    alice   adjust -15 as a2              repeated
    alice   adjust -16 as a2              fault
    alice   adjust -101 as a3             adjust_exceeds_available
    alice   adjust -100 as a3             posted                    0    0    0
    alice   adjust -100 as a3             repeated
    nobody  purchase 1 as p2              book_unknown
    nobody  adjust -1 as a4               book_unknown`,

  'spending uses up the lots, oldest first': `
    alice   purchase 100 as p1            posted                  100    0    0
    alice   promo 50 as c1                posted                  150    0    0
    alice   purchase 100 as p2            posted                  250    0    0
    alice   hold r1 120 floor 120         granted 120             130  120    0
    alice   lots                          p1 100, c1 50, p2 100                  # held, not spent
    alice   settle r1 120                 charged 120             130    0    0
    alice   lots                          p1 0, c1 30, p2 100
    alice   adjust 10 as a1               posted                  140    0    0
    alice   lots                          p1 0, c1 30, p2 100, a1 10
    alice   refund 1 of p1 as x1          refund_exceeds_unspent
    alice   refund 101 of p2 as x1        refund_exceeds_unspent
    alice   refund 60 of p2 as x1         posted                   80    0    0  # a part
    alice   lots                          p1 0, c1 30, p2 40, a1 10
    alice   refund 60 of p2 as x1         repeated
    alice   refund 59 of p2 as x1         fault
    alice   hold r2 50 floor 50           granted 50               30   50    0
    alice   refund 40 of p2 as x2         refund_exceeds_unspent                 # 30 are free
    alice   settle r2 50                  charged 50               30    0    0
    alice   lots                          p1 0, c1 0, p2 20, a1 10
    alice   reverse x1 of p2              posted                   90    0    0
    alice   reverse x1 of p2              repeated
    alice   lots                          p1 0, c1 0, p2 80, a1 10
    alice   reverse unheard of p2         fault
    alice   refund 80 of p2 as x3         posted                   10    0    0  # the rest
    alice   refund 1 of unheard as x4     refund_exceeds_unspent
    nobody  refund 1 of p1 as x5          book_unknown`,

  'a reversed refund pays debt first; a forced debit of a lot leaves less to refund': `
    alice   purchase 100 as p1            posted                  100    0    0
    alice   purchase 100 as p2            posted                  200    0    0
    alice   refund 100 of p1 as x1        posted                  100    0    0
    alice   force 130 as f1 of p2         posted                    0    0   30
    alice   lots                          p1 0, p2 0
    alice   refund 1 of p2 as x2          refund_exceeds_unspent
    alice   reverse x1 of p1              posted                   70    0    0
    alice   lots                          p1 100, p2 0
    alice   refund 71 of p1 as x2         refund_exceeds_unspent                 # 70 are free
    alice   refund 70 of p1 as x2         posted                    0    0    0`,
}

for (const form of ['single rows', 'arrays'] satisfies Form[]) {
  describe(`by ${form}`, () => {
    let database: TestDatabase
    let bookkeeper: Awaited<ReturnType<typeof createTableRunner>>
    before(async () => {
      database = await createTestDatabase()
      bookkeeper = await createTableRunner(database, form)
    })
    after(async () => {
      await bookkeeper.end()
      await database.drop()
    })
    for (const [promise, table] of Object.entries(tables)) {
      test(promise, () => bookkeeper.run(table))
    }
    test('the audit finds nothing after all tables', async () => {
      assert.deepEqual(await bookkeeper.audit(), [])
    })
  })
}
