// Payment methods that payers saved with the provider: a shop charges them later without the payer
// and without 3-D Secure. A control call sets what their banks do then.
import type { PaidHow } from './objects.ts'

export type KeptMethod = {
  readonly id: string
  readonly how: PaidHow
  /** The decline reason for the next charges; null: the bank pays. */
  decline: string | null
  /** Charges stay pending until a control call pays or declines them. */
  isSlow: boolean
}

export function createKeptMethods() {
  const kept = new Map<string, KeptMethod>()
  return {
    keep(id: string, how: PaidHow): void {
      const alone = how.type === 'sbp' ? how : { ...how, threeDSecure: false }
      kept.set(id, { id, how: alone, decline: null, isSlow: false })
    },
    one: (id: string): KeptMethod | undefined => kept.get(id),
    /** The payer withdrew it at the bank or at the provider. */
    forget: (id: string): boolean => kept.delete(id),
    clear: (): void => kept.clear(),
  }
}
