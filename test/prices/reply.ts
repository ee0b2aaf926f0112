// Prices a reply as the gateway does: the bytes of a plain reply go through its meter.
import { meter } from '../../src/gateway/6-meter.ts'
import type { Metered } from '../../src/gateway/reply/context.ts'
import type { Snapshot } from '../../src/pricing/pricing.ts'
import type { PlainCounts, PlainUsage } from '../support/plain-prices.ts'

export function usageJson({ counts, values, uses, hidden }: PlainUsage): object {
  return {
    ...countersOf(counts),
    ...values,
    ...(Object.keys(uses).length === 0
      ? {}
      : {
          server_tool_use: Object.fromEntries(
            Object.entries(uses).map(([name, count]) => [`${name}_requests`, count]),
          ),
        }),
    ...(hidden.length === 0
      ? {}
      : {
          iterations: [
            { type: 'message', ...countersOf(counts) },
            ...hidden.map((pass) => ({
              type: 'advisor_message',
              model: pass.model,
              ...countersOf(pass.counts),
            })),
          ],
        }),
  }
}

function countersOf([input, output, read, short, long]: PlainCounts) {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: short + long,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
  }
}

export function meterReply(
  catalogue: Pick<Snapshot, 'modelById' | 'modelByUpstreamName'>,
  model: string,
  usage: object,
): Metered {
  const sold = catalogue.modelById.get(model)
  if (sold === undefined) throw new Error(`no model ${model}`)
  const message = { id: 'msg_1', type: 'message', model, content: [], stop_reason: 'end_turn' }
  const bytes = Buffer.from(JSON.stringify({ ...message, usage }))
  const metered = meter({ model: sold, catalogue })
  metered.plain.push(bytes)
  return metered.ofCompletePlain(bytes.length)
}
