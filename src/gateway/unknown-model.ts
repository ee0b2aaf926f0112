// The refusal of a model that the catalogue does not have. Its words begin as the vendor's do,
// because agents recognise them, and then name the model that the person probably meant.
import { nearest } from '../platform/nearest.ts'
import type { Refusal } from '../platform/refusal.ts'
import type { Model } from '../pricing/pricing.ts'
import { gatewayRefusal } from './refusals.ts'

export function unknownModel(id: string, models: readonly Model[]): Refusal {
  const meant = nearest(
    id,
    models.map((model) => model.id),
  )
  const hint = meant === undefined ? '' : `. Did you mean ${meant}?`
  return gatewayRefusal('model_unknown', `model: ${id}${hint}`)
}
