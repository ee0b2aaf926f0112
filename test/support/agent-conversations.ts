// Conversations of coding agents as they look on the wire: a system prompt, tool definitions, and
// turns in which the model reads files, gets JSON, and talks English or Russian. Their texts are
// files of this repository, so their mixture of words, code and escapes is a real one.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** The beginning of a file: an agent reads a few hundred lines at a time. */
function fileText(path: string, chars: number): string {
  return readFileSync(join(root, path), 'utf8').slice(0, chars)
}

const marker = { cache_control: { type: 'ephemeral' } }

function systemPrompt(language: 'en' | 'ru') {
  const rules = language === 'en' ? fileText('CONTRIBUTING.md', 9_000) : russian(9_000)
  return [
    { type: 'text', text: 'You are a coding agent. You work in a terminal.' },
    { type: 'text', text: rules, ...marker },
  ]
}

function russian(chars: number, from = 0): string {
  const all = fileText('docs/ru/charging.md', 40_000) + fileText('docs/ru/quick-start.md', 40_000)
  return all.repeat(Math.ceil((from + chars) / all.length)).slice(from, from + chars)
}

function tools(count: number) {
  const names = 'Bash Read Edit Write Glob Grep Task TodoWrite WebFetch NotebookEdit Skill Agent'
  return names
    .split(' ')
    .slice(0, count)
    .map((name, i) => ({
      name,
      description: fileText('docs/architecture.md', 4_000 + i * 50).slice(i * 50),
      input_schema: {
        type: 'object',
        properties: {
          path: { type: 'string', description: 'An absolute path of a file or a folder' },
          command: { type: 'string', description: 'What to run, in one line' },
          limit: { type: 'number', description: 'The most lines that are returned' },
        },
        required: ['path'],
        additionalProperties: false,
      },
    }))
}

type Turn = { readonly role: 'user' | 'assistant'; readonly content: readonly object[] }

/** One step of the agent: it says something, uses a tool, and gets its result. */
function step(i: number, said: string, result: string): Turn[] {
  const id = `toolu_${String(i).padStart(24, '0')}`
  return [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: said },
        { type: 'tool_use', id, name: 'Read', input: { path: `/home/user/project/file-${i}` } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
  ]
}

function bodyOf(language: 'en' | 'ru', toolCount: number, turns: readonly Turn[]): string {
  const last = turns.at(-1) as Turn
  const ending = last.content.map((block, i) =>
    i === last.content.length - 1 ? { ...block, ...marker } : block,
  )
  return JSON.stringify({
    model: 'model-large',
    max_tokens: 32_000,
    system: systemPrompt(language),
    tools: tools(toolCount),
    messages: [...turns.slice(0, -1), { ...last, content: ending }],
    metadata: { user_id: 'user_0123456789abcdef' },
  })
}

const asked = (text: string): Turn => ({ role: 'user', content: [{ type: 'text', text }] })

/** The body of the next request of each conversation, by what it is about. */
export const agentConversations: Readonly<Record<string, string>> = {
  'English, TypeScript': bodyOf('en', 12, [
    asked('Explain how a request is charged, and find where the hold is made.'),
    ...step(1, 'I will read the entry file first.', fileText('src/pricing/pricing.ts', 16_000)),
    ...step(2, 'Now the steps of the gateway.', fileText('src/gateway/5-relay.ts', 12_000)),
    ...step(3, 'And the reader of bodies.', fileText('src/wire/json.ts', 12_000)),
  ]),
  'English, SQL and logs': bodyOf('en', 12, [
    asked('Why was this hold refused? Read the functions of the ledger.'),
    ...step(1, 'The function that decides is here.', fileText('src/ledger/sql/hold.sql', 12_000)),
    ...step(2, 'The audit next.', fileText('src/ledger/sql/audit.sql', 16_000)),
    ...step(3, 'What changed lately?', fileText('CHANGELOG.md', 20_000)),
    ...step(4, 'The schema too.', fileText('migrations/schema.sql', 20_000)),
  ]),
  'English, JSON results': bodyOf('en', 8, [
    asked('Which fields does the API description have for an account?'),
    ...step(1, 'Reading the description.', fileText('docs/openapi.json', 30_000)),
    ...step(2, 'And its locked packages.', fileText('package-lock.json', 30_000)),
  ]),
  'Russian, documents': bodyOf('ru', 6, [
    asked('Прочитай документацию и объясни, за что списываются кредиты.'),
    ...step(1, 'Сначала правила списания.', russian(9_000)),
    ...step(2, 'Теперь начало работы.', russian(9_000, 9_000)),
  ]),
  'Russian talk, TypeScript': bodyOf('ru', 12, [
    asked('Найди, где резервируются кредиты, и объясни по-русски.'),
    ...step(1, 'Читаю цены: от них зависит резерв.', fileText('src/pricing/lists.ts', 9_000)),
    ...step(2, 'Теперь чтение полей запроса.', fileText('src/wire/fields.ts', 10_000)),
    ...step(3, 'И слова на страницах кабинета.', fileText('web/words/ru/visitors.ts', 12_000)),
  ]),
  'English, long session': bodyOf('en', 12, [
    asked('Review the whole module for mistakes, file by file.'),
    ...Array.from({ length: 10 }, (_, i) =>
      step(i, `File ${i + 1}.`, fileText('src/ledger/queries.ts', 14_000).slice(i * 100)),
    ).flat(),
  ]),
}
