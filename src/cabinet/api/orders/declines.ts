// Maps the provider's reasons for a failed payment to the contract's closed list, with advice for
// the payer. The provider's list is open and grows; an unknown reason becomes `no_reason_given`.
import type { DeclineAdvice, DeclineReason } from '../../contract/codes.ts'
import type { Order } from '../../contract/contract.ts'

const advice = {
  insufficient_funds: 'top_up_or_other_card',
  card_data_wrong: 'check_card_data',
  card_expired: 'check_card_data',
  bank_check_failed: 'repeat_and_pass_the_check',
  bank_refused: 'ask_bank_or_other_method',
  bank_unreachable: 'ask_bank_or_other_method',
  limit_exceeded: 'other_method_or_tomorrow',
  suspected: 'other_method',
  time_ran_out: 'start_again',
  canceled_by_us: 'write_to_us',
  provider_failed: 'start_again',
  no_reason_given: 'ask_bank_or_other_method',
} satisfies Record<DeclineReason, DeclineAdvice>

/** YooKassa's reasons; those of other providers go into the same list. */
const reasons: Readonly<Record<string, DeclineReason>> = {
  insufficient_funds: 'insufficient_funds',
  invalid_card_number: 'card_data_wrong',
  invalid_csc: 'card_data_wrong',
  card_expired: 'card_expired',
  '3d_secure_failed': 'bank_check_failed',
  call_issuer: 'bank_refused',
  payment_method_restricted: 'bank_refused',
  identification_required: 'bank_refused',
  issuer_unavailable: 'bank_unreachable',
  payment_method_limit_exceeded: 'limit_exceeded',
  fraud_suspected: 'suspected',
  country_forbidden: 'suspected',
  general_decline: 'no_reason_given',
  expired_on_confirmation: 'time_ran_out',
  expired_on_capture: 'canceled_by_us',
  canceled_by_merchant: 'canceled_by_us',
  // Our own reason: the top-up ended, and its order never reached the provider.
  top_up_ended: 'canceled_by_us',
  internal_timeout: 'provider_failed',
}

export function declineOf(order: {
  readonly state: string
  readonly cancelReason: string | null
}): Order['decline'] {
  const { state, cancelReason } = order
  if (state !== 'canceled' && state !== 'failed') return null
  // A failed order never became a payment: its reason is the provider's error about our request.
  const reason = state === 'failed' ? 'provider_failed' : reasonOf(cancelReason ?? '')
  return { reason, advice: advice[reason] }
}

function reasonOf(theirs: string): DeclineReason {
  return (Object.hasOwn(reasons, theirs) && reasons[theirs]) || 'no_reason_given'
}
