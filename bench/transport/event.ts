// The event of the transport benchmark's streams; its length counts events that arrive together.

export const EVENT = Buffer.from(
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,' +
    '"delta":{"type":"text_delta","text":" and the gate was opened"}}\n\n',
)
