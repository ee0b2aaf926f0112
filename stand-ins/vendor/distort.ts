// Faults of content: events that are missing, doubled, unknown or in the wrong place, usage that is
// absent or impossible. Works on events and messages as values; outlet.ts changes bytes.
import { errorBody, VendorError } from './errors.ts'
import type { Faults } from './faults.ts'
import { ping, type StreamEvent } from './stream.ts'
import type { Usage } from './usage.ts'

/** The usage that the stand-in will report. */
export function distortUsage(usage: Usage, faults: Faults): Usage {
  return {
    ...usage,
    input_tokens: faults['usage-input'] ?? faults.usage ?? usage.input_tokens,
    output_tokens: faults['usage-output'] ?? faults.usage ?? usage.output_tokens,
    ...faults['usage-members'],
  }
}

/** A plain reply with its faults. */
export function distortMessage<T extends { usage: unknown }>(message: T, faults: Faults): object {
  const { usage, ...rest } = message
  return {
    ...rest,
    ...(faults['unknown-field'] ? { future_field: { nested: [1, 'two', null] } } : {}),
    ...(faults['no-usage'] ? {} : { usage }),
  }
}

/** The events of a stream with their faults. */
export function* distortEvents(
  events: Iterable<StreamEvent>,
  faults: Faults,
  requestId: string,
  usage: Usage,
): Generator<StreamEvent> {
  let count = 0
  for (const event of withExtras(events, faults)) {
    if (count === faults['error-after']) {
      const { status = 529, message, 'error-type': type } = faults
      const error = new VendorError(status, message, type === undefined ? {} : { type })
      yield errorBody(error, requestId)
      return
    }
    const bent = bendUsage(event, faults, usage)
    yield faults['unknown-field'] ? { ...bent, future_field: { nested: [1, 'two', null] } } : bent
    count += 1
  }
}

function* withExtras(events: Iterable<StreamEvent>, faults: Faults): Generator<StreamEvent> {
  for (const event of events) {
    if (event.type === 'message_delta' && faults['double-delta']) yield firstOfTwo(event)
    if (event.type === 'content_block_delta' && faults.pings) yield ping
    yield event
    if (event.type === 'message_start' && faults['unknown-event']) {
      yield { type: 'future_event', note: 'a kind of event nobody has seen before' }
    }
  }
}

// An earlier, smaller count: detects a reader that keeps the first of two.
function firstOfTwo(event: StreamEvent): StreamEvent {
  return {
    ...event,
    delta: { stop_reason: null, stop_sequence: null },
    usage: { output_tokens: 1 },
  }
}

function bendUsage(event: StreamEvent, faults: Faults, total: Usage): StreamEvent {
  const isDelta = event.type === 'message_delta'
  if (isDelta && (faults['no-usage'] || faults['usage-in-start'])) {
    const { usage: _, ...rest } = event
    return { ...rest, type: event.type }
  }
  if (event.type !== 'message_start') return event
  if (faults['no-usage']) {
    const { usage: _, ...message } = Object(event.message)
    return { ...event, message }
  }
  return faults['usage-in-start']
    ? { ...event, message: { ...Object(event.message), usage: total } }
    : event
}
