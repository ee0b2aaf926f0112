// The fields of the form of prices: their names, which are those of the catalogue's file, their
// values, and the changes that the command gets.
import type { Catalogue, TokenPrices } from '../../../src/operator/console/contract/catalogue.ts'

export type Values = Record<string, string | boolean>

const paths: Readonly<Record<keyof TokenPrices, string>> = {
  input: 'input',
  output: 'coefficient',
  cacheRead: 'weights.cacheRead',
  cacheWrite5m: 'weights.cacheWrite5m',
  cacheWrite1h: 'weights.cacheWrite1h',
}

/** `models.model-large.weights.cacheRead` */
export function fieldOf(list: 'models' | 'packs', id: string, field: string): string {
  return `${list}.${id}.${field in paths ? paths[field as keyof TokenPrices] : field}`
}

export function initialValues({ models, packs }: Catalogue): Values {
  const prices = models.flatMap(({ id, price }) =>
    Object.entries(price).map(([kind, text]) => [fieldOf('models', id, kind), text]),
  )
  const sold = packs.flatMap(({ id, credits, priceKopecks }) => [
    [fieldOf('packs', id, 'credits'), credits.exact],
    [fieldOf('packs', id, 'priceKopecks'), roublesOf(priceKopecks)],
  ])
  return { ...Object.fromEntries([...prices, ...sold]), more: '', note: '', below: false }
}

/** One change for each field with another value, and each line of the others. */
export function changesOf(initial: Values, values: Values): string[] {
  const changed = Object.entries(values).flatMap(([name, value]) => {
    if (!/^(?:models|packs)\./.test(name) || value === initial[name]) return []
    const text = String(value).trim().replace(',', '.').replaceAll(/\s/g, '')
    return [`${name}=${name.endsWith('.priceKopecks') ? kopecksOf(text) : text}`]
  })
  const more = String(values.more)
    .split('\n')
    .map((line) => line.trim())
  return [...changed, ...more.filter((line) => line !== '')]
}

/** The server's sentences, each of which begins with its field. */
export function problemsOf(text: string, known: Values) {
  const byField: Record<string, string> = {}
  const others: string[] = []
  for (const line of text.split('\n')) {
    const [, field = '', sentence = ''] = /^(\S+): (.*)$/.exec(line) ?? []
    if (field in known) byField[field] = sentence
    else others.push(line)
  }
  return { byField, others }
}

/** 130050 → 1300.50, and 130000 → 1300 */
function roublesOf(kopecks: string): string {
  const digits = kopecks.padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`.replace(/\.00$/, '')
}

const ROUBLES = /^\s*(\d[\d\s]{0,15})(?:[.,](\d{1,2}))?\s*$/

export function isRoubles(text: string): boolean {
  return ROUBLES.test(text)
}

function kopecksOf(roubles: string): string {
  const [, whole = '', part = ''] = ROUBLES.exec(roubles) ?? []
  return `${whole}${part.padEnd(2, '0')}`.replace(/^0+(?=\d)/, '')
}
