// The refusals that the gateway raises itself. answers.ts says how a client sees these refusals and
// those of the modules keys and ledger.
import { makeRefusal } from '../platform/refusal.ts'

export const gatewayRefusalCodes = [
  'path_unknown',
  'method_wrong',
  'content_type_wrong',
  'content_encoding_unsupported',
  'body_too_large',
  'body_broken_off',
  'body_bytes_exhausted',
  'waiting_exhausted',
  'request_shed',
  'field_invalid',
  'thread_unsupported',
  'model_unknown',
  'request_unknown',
  'feature_unpriced',
  'upstream_unavailable',
  'upstream_limited',
  'upstream_unreachable',
  'upstream_failed',
  'upstream_overdue',
  'upstream_misconfigured',
  'request_overdue',
  'key_missing',
  'ledger_unavailable',
] as const

export type GatewayRefusalCode = (typeof gatewayRefusalCodes)[number]
export const gatewayRefusal = makeRefusal<GatewayRefusalCode>
