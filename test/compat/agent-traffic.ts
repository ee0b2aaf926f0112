// The traffic of a coding agent as seen on the wire: long lists of betas, a body of 46 KB with
// twelve tools and fields that libraries have no names for, a system message in mid-conversation,
// and turns that send everything before them again. The words are ours; only the shape is theirs.

export const BETAS = [
  'claude-code-20250219',
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'thinking-token-count-2026-05-13',
  'advanced-tool-use-2025-11-20',
  'effort-2025-11-24',
  'prompt-caching-scope-2026-01-05',
  'fine-grained-tool-streaming-2025-05-14',
].join(',')

export const agentHeaders = {
  accept: 'application/json',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'anthropic-beta': BETAS,
  'anthropic-dangerous-direct-browser-access': 'true',
  'anthropic-version': '2023-06-01',
  'content-type': 'application/json',
  'user-agent': 'claude-cli/2.1.325 (external, cli)',
  'x-app': 'cli',
  'x-claude-code-session-id': '4e4ca8c6-9bf5-428b-bc42-d0a1921dde72',
  'x-stainless-helper-method': 'stream',
  'x-stainless-lang': 'js',
  'x-stainless-package-version': '0.128.0',
  'x-stainless-retry-count': '0',
  'x-stainless-timeout': '600',
}

export type Turn = { readonly role: string; readonly content: unknown }

const toolNames = 'Agent Bash Edit Glob Grep Read Skill Task TodoWrite WebFetch WebSearch Write'

/** A tool definition of about three thousand bytes. */
function toolOf(name: string): object {
  const member = (text: string) => ({ description: text.repeat(8), type: 'string' })
  return {
    name,
    description: `${name} does what its name says, in the working folder and nowhere else. `.repeat(
      32,
    ),
    input_schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        file_path: member('An absolute path. '),
        command: member('What to run, in one line. '),
        limit: { description: 'At most so many lines.', type: 'number', maximum: 9007199254740991 },
      },
      required: ['file_path'],
      additionalProperties: false,
    },
  }
}

const cached = { cache_control: { type: 'ephemeral' } }

/** The bytes of one turn; the last user message carries the stand-in's orders. */
export function agentBody(turns: readonly Turn[], more: object = {}): string {
  return JSON.stringify({
    model: 'claude-opus-5',
    messages: turns,
    system: [
      { type: 'text', text: 'client-attribution: cc_version=2.1.325; cc_entrypoint=cli;' },
      { type: 'text', text: 'You work in a terminal.', ...cached },
      {
        type: 'text',
        text: 'Be careful with files — никогда не удаляй их. '.repeat(150),
        ...cached,
      },
    ],
    tools: toolNames.split(' ').map(toolOf),
    metadata: {
      user_id: JSON.stringify({ device_id: 'f'.repeat(64), account_uuid: '', session_id: 'x' }),
    },
    max_tokens: 128_000,
    thinking: { type: 'adaptive', display: 'omitted' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    output_config: { effort: 'high' },
    stream: true,
    ...more,
  })
}

/** The first turn: what a person typed between the agent's own remarks. */
export function firstTurns(typed: string): Turn[] {
  return [
    {
      role: 'user',
      content: [
        { type: 'text', text: '<system-reminder>\nToday is a day.\n</system-reminder>' },
        { type: 'text', text: typed },
      ],
    },
    {
      role: 'system',
      content: [{ type: 'text', text: 'The folder holds one file. '.repeat(30), ...cached }],
    },
  ]
}

type Block = Record<string, unknown>

/** The content of a streamed reply, put together as agents do it, and its stop reason. */
export function replyOf(text: string): { content: Block[]; stopReason: unknown; end: string } {
  const content: Block[] = []
  const state = { stopReason: undefined as unknown, end: '' }
  for (const record of text.split('\n\n').filter((one) => one !== '')) {
    const event = JSON.parse(/^data: (.*)$/m.exec(record)?.[1] ?? '{}') as Block
    const delta = (event.delta ?? {}) as Record<string, string>
    const block = content[Number(event.index)] ?? {}
    state.end = String(event.type)
    if (event.type === 'content_block_start') content.push(event.content_block as Block)
    else if (event.type === 'content_block_delta') {
      const [name = ''] = Object.keys(delta).filter((key) => key !== 'type')
      block[name] = `${block[name] ?? ''}${delta[name]}`
    } else if (event.type === 'content_block_stop' && block.partial_json !== undefined) {
      block.input = JSON.parse(String(block.partial_json))
      delete block.partial_json
    } else if (event.type === 'message_delta') state.stopReason = delta.stop_reason
  }
  return { content, ...state }
}
