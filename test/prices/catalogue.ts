// The catalogue of the tables: every dimension of a price, with numbers that are easy to follow.
export const tableCatalogue = `
models:
  - id: plain
    displayName: Plain
    createdAt: 2026-01-15
    contextWindow: 200000
    outputCeiling: 64000
    coefficient: 5
    weights: { cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2 }
  - id: dear
    displayName: { ru: Дорогая, en: Dear }
    createdAt: 2026-01-15
    contextWindow: 1000000
    outputCeiling: 128000
    input: 10
    coefficient: 50
    weights: { cacheRead: 1, cacheWrite5m: 12.5, cacheWrite1h: 20 }
    tiers:
      - above: 100000
        input: 20
        coefficient: 75
        weights: { cacheRead: 2, cacheWrite5m: 25, cacheWrite1h: 40 }
    multipliers:
      speed: { fast: 2 }
      inference_geo: { us: 1.1 }
      service_tier: { priority: 1.5, batch: 0.5 }
    features:
      web_search: { iterationsMax: 3, perUse: 2500, usesMax: 4 }
      web_fetch: { iterationsMax: 2 }
      code_execution: { iterationsMax: 2, perUse: 700, usesMax: 2 }
      compaction: { iterationsMax: 1 }
      advisor: { iterationsMax: 2 }
      fallbacks: { iterationsMax: 1 }
  - id: cheap
    displayName: Cheap
    createdAt: 2026-01-15
    upstreamNames: vendor-cheap
    contextWindow: 200000
    outputCeiling: 8000
    input: 0.1
    coefficient: 0.5
    weights: { cacheRead: 0.01, cacheWrite5m: 0.125, cacheWrite1h: 0.2 }
    features:
      server_tools: { iterationsMax: 2 }
  - id: agent
    displayName: Agent
    createdAt: 2026-01-15
    contextWindow: 200000
    outputCeiling: 8000
    coefficient: 5
    weights: { cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2 }
    features:
      web_search: { iterationsMax: 10, perUse: 1000, usesMax: 5, contentMax: 6000 }
      web_fetch: { iterationsMax: 10, usesMax: 3, contentMax: 20000 }
      code_execution: { iterationsMax: 4 }
  - id: zero
    displayName: Free input
    createdAt: 2026-01-15
    contextWindow: 200000
    outputCeiling: 64000
    input: 0
    coefficient: 5
    weights: { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
packs: []
`
