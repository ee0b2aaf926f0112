// The example catalogue with one more model that has a price in every dimension: an input weight, a
// second list for long prompts, three multipliers that stack, and tools with a price per use.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export const PRICED_MODEL = 'model-priced'

const MODEL = `  - id: ${PRICED_MODEL}
    displayName: { ru: Многогранная, en: Versatile }
    createdAt: 2026-06-01
    upstreamNames: model-large
    contextWindow: 200000
    outputCeiling: 64000
    input: 0.6
    coefficient: 3
    weights: { cacheRead: 0.06, cacheWrite5m: 0.75, cacheWrite1h: 1.2 }
    tiers:
      - above: 100000
        input: 1.2
        coefficient: 4.5
        weights: { cacheRead: 0.12, cacheWrite5m: 1.5, cacheWrite1h: 2.4 }
    multipliers:
      speed: { fast: 2 }
      inference_geo: { us: 1.1 }
      service_tier: { priority: 1.5 }
    features:
      web_search: { iterationsMax: 5, perUse: 2500, usesMax: 10 }
      code_execution: { iterationsMax: 3, perUse: 400, usesMax: 20 }
      web_fetch: { iterationsMax: 5 }
      advisor: { iterationsMax: 1 }

`

/** The text of the catalogue file. */
export async function catalogueWithPricedModel(): Promise<string> {
  const example = join(import.meta.dirname, '../../catalogue.example.yaml')
  return (await readFile(example, 'utf8')).replace(/^packs:$/m, `${MODEL}packs:`)
}
