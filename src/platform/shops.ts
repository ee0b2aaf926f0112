// Parses the setting of earlier shops: each with its own key, the newest first, the earliest last.
import { Masked } from './masked.ts'

export type EarlierShop = { readonly shopId: string; readonly secretKey: Masked<string> }

export const SHOPS = /^(?:none|\d{1,20}:[^\s,:]+(?:\s*,\s*\d{1,20}:[^\s,:]+)*)$/
export const SHOPS_EXPECTED =
  'expected none, or shops with their keys, the earliest last: 100500:live_…,100501:live_…'

/** `text` matches SHOPS. */
export function earlierShopsOf(text: Masked<string>): EarlierShop[] {
  if (text.reveal() === 'none') return []
  return text
    .reveal()
    .split(',')
    .map((one) => {
      const [shopId = '', key = ''] = one.trim().split(':')
      return { shopId, secretKey: new Masked(key) }
    })
}
