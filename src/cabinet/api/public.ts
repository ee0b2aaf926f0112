// Routes without a session: brand, prices and legal documents.
import { z } from 'zod'
import type { Payments } from '../../payments/payments.ts'
import type { Pricing, Snapshot } from '../../pricing/pricing.ts'
import type { Brand } from '../contract/contract.ts'
import type { ModelPrice } from '../contract/prices.ts'
import type { Documents } from '../documents.ts'
import { creditsOf } from './amounts.ts'
import { packsOf } from './orders/packs.ts'
import { modelPrice } from './prices.ts'
import type { RouteTable } from './routes.ts'

export type PublicOptions = {
  readonly brand: Pick<Brand, 'name' | 'supportEmail' | 'requisites'>
  readonly apiUrl: string
  readonly vendorSlug: string
  readonly refundPolicy: Brand['refundPolicy']
  readonly isSelling: boolean
  readonly documents: Documents
  readonly pricing: Pick<Pricing, 'current'>
  readonly payments: Pick<Payments, 'methods' | 'offeredTrial'>
}

export function publicRoutes(
  options: PublicOptions,
): RouteTable<'GET /api/brand' | 'GET /api/prices' | 'GET /api/documents/:document'> {
  const { brand, documents, pricing, payments } = options
  // A model may have a hundred price lists: their texts are made once for each catalogue.
  const published = new WeakMap<Snapshot, readonly ModelPrice[]>()
  function modelsOf(snapshot: Snapshot): readonly ModelPrice[] {
    const models = published.get(snapshot) ?? snapshot.models.map(modelPrice)
    published.set(snapshot, models)
    return models
  }
  return {
    'GET /api/brand': {
      session: 'none',
      run: async () => ({
        name: brand.name,
        supportEmail: brand.supportEmail,
        requisites: brand.requisites,
        apiUrl: options.apiUrl,
        vendorSlug: options.vendorSlug,
        documents: documents.list(),
        languages: ['ru', 'en'],
        isSelling: options.isSelling,
        refundPolicy: options.refundPolicy,
        trialCredits: payments.offeredTrial && creditsOf(payments.offeredTrial),
      }),
    },
    'GET /api/prices': {
      session: 'none',
      async run() {
        const snapshot = pricing.current()
        return {
          catalogueVersion: snapshot.version,
          packs: packsOf(pricing, payments),
          models: modelsOf(snapshot),
        }
      },
    },
    'GET /api/documents/:document': {
      session: 'none',
      query: z.object({ language: z.enum(['ru', 'en']).optional() }),
      run: async ({ params, query }) => documents.read(params.document, query.language ?? 'ru'),
    },
  }
}
