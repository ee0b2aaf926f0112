// Which documents a new owner has accepted, for registrations and invitations.
import { z } from 'zod'
import type { LegalDocument } from '../dependencies.ts'
import type { Consent } from '../queries.ts'

export const consentsShape = z
  .array(z.object({ document: z.string().max(40), version: z.string().max(40) }))
  .max(20)
  .default([])

/** The accepted documents in force; undefined when a required one is missing. */
export function acceptedConsents(
  documents: readonly LegalDocument[],
  given: readonly Consent[],
): Consent[] | undefined {
  const isAccepted = (one: Consent) => given.some((accepted) => isSameDocument(one, accepted))
  if (documents.some((one) => one.isRequired && !isAccepted(one))) return undefined
  return documents.filter(isAccepted).map(({ document, version }) => ({ document, version }))
}

function isSameDocument(one: Consent, other: Consent): boolean {
  return one.document === other.document && one.version === other.version
}
