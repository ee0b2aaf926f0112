// What everybody may read, signed in or not: who we are, what it costs, and the legal pages.
import { z } from 'zod'
import type { Payments } from '../../payments/payments.ts'
import type { Pricing } from '../../pricing/pricing.ts'
import { millionthsText } from '../../units/price.ts'
import type { Brand, ModelPrice } from '../contract/contract.ts'
import type { Documents } from '../documents.ts'
import { packsOf } from './orders/packs.ts'
import type { Table } from './routes.ts'

export type PublicOptions = {
  readonly brand: Pick<Brand, 'name' | 'supportEmail' | 'requisites'>
  readonly apiUrl: string
  readonly vendorSlug: string
  readonly refundPolicy: Brand['refundPolicy']
  readonly isSelling: boolean
  readonly documents: Documents
  readonly pricing: Pick<Pricing, 'current'>
  readonly payments: Pick<Payments, 'methods'>
}

export function publicRoutes(
  options: PublicOptions,
): Table<'GET /api/brand' | 'GET /api/prices' | 'GET /api/documents/:document'> {
  const { brand, documents, pricing, payments } = options
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
      }),
    },
    'GET /api/prices': {
      session: 'none',
      async run() {
        const { version, models } = pricing.current()
        return {
          catalogueVersion: version,
          packs: packsOf(pricing, payments),
          models: models.map(
            ({ id, displayName, contextWindow, outputCeiling, price }): ModelPrice => ({
              id,
              name: displayName,
              contextWindow: String(contextWindow),
              outputCeiling: String(outputCeiling),
              coefficient: millionthsText(price.coefficient),
              weights: {
                cacheRead: millionthsText(price.cacheRead),
                cacheWrite5m: millionthsText(price.cacheWrite5m),
                cacheWrite1h: millionthsText(price.cacheWrite1h),
              },
            }),
          ),
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
