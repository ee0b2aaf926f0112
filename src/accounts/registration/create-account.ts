// Makes the account of a confirmed registration: with its password, its consents and its book, in
// one transaction. The book is opened here and not at registration: books are never deleted, and
// most registrations are bots'.
import { newAccountId, randomText } from '../../platform/ids.ts'
import type { Dependencies } from '../dependencies.ts'
import * as queries from '../queries.ts'

/** `createdAt`: when the documents were accepted; null: now. */
type ConfirmedPerson = Omit<queries.RegistrationRow, 'createdAt' | 'invitedBy'> & {
  readonly createdAt: Date | null
  /** The address of the browser that confirmed. */
  readonly confirmedFrom: string
}

/** False when the address has an account by now, or the registration is gone. */
export type CreateAccount = (person: ConfirmedPerson) => Promise<boolean>

export function createAccountCreation(dependencies: Dependencies): CreateAccount {
  const { db } = dependencies
  return async (person) => {
    const { email, passwordHash, language, consents, address, createdAt } = person
    try {
      return await db.transaction(async (tx) => {
        if (!(await queries.registrationConsume(tx, person))) return false
        const id = newAccountId()
        const book = await dependencies.openBook(tx)
        const credential = `cred_${randomText(12)}`
        await queries.accountInsert(tx, { id, credential, email, passwordHash, language, book })
        for (const consent of consents) {
          await queries.consentInsert(tx, { ...consent, account: id, address, at: createdAt })
        }
        await dependencies.onConfirmed?.(tx, { book, email, address: person.confirmedFrom })
        return true
      })
    } catch (error) {
      // Another account has changed its e-mail to this address meanwhile, or from it.
      if (queries.isUniqueViolation(error)) return false
      throw error
    }
  }
}
