// Builds docs/settings.md and docs/ru/settings.md from tollgate.example.yaml: its comments explain
// every setting: a table for each area. A test compares them; the cabinet shows and searches them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { listSettings } from '../src/platform/settings.ts'
import { translator } from './translations.ts'

type Language = 'en' | 'ru'
type Line = { readonly path: string; readonly value: string; readonly comment: string }
type Area = { readonly name: string; readonly comment: string; readonly lines: readonly Line[] }

const root = join(import.meta.dirname, '..')

/** The text of the page for the current tollgate.example.yaml. */
export function settingsPage(language: Language): string {
  const translate = translator('settings', language)
  const areas = readAreas()
  const parts = areas.map(({ name, comment, lines }) =>
    [
      `## ${name === '' ? translate('General') : name}\n`,
      ...(comment === '' ? [] : [`${cell(translate(comment))}\n`]),
      `| ${heads[language].join(' | ')} |\n|---|---|---|`,
      ...lines.map((line) => rowOf(line, translate)),
      '',
    ].join('\n'),
  )
  return [intros[language], ...parts].join('\n')
}

/** Every text of the page, in its order: what has to be translated. */
export function settingsTexts(): readonly string[] {
  const texts = readAreas().flatMap(({ comment, lines }) => [
    comment,
    ...lines.map((line) => line.comment),
  ])
  return ['General', ...texts.filter((text) => text !== '')]
}

const heads = {
  en: ['setting', 'default', 'meaning'],
  ru: ['настройка', 'по умолчанию', 'что она делает'],
} as const

const intros = {
  en: `# Server settings

For operators who run a server of their own: every setting with its default, unit and reason.
You need none of them to try it out: without a file these defaults apply.

<!-- Made from tollgate.example.yaml by tools/docs-pages.ts: change that one, not this. -->

Start with \`--config tollgate.yaml\`, or name the file in \`TOLLGATE_CONFIG\`. The environment
overrides the file; the variable is named beside each setting (\`PORT\` works for
\`gateway.port\` too). A secret may also be read from a file:
\`DATABASE_URL_FILE=/run/secrets/database-url\`. \`config check\` prints every value and where
it came from. Production refuses the defaults marked *development only*, so that a server that
takes money cannot run on development secrets.
`,
  ru: `# Настройки сервера

Для тех, у кого работает свой сервер: каждая настройка, её значение по умолчанию, единица и
причина. Чтобы попробовать, не нужна ни одна: без файла действуют эти значения.

<!-- Сделано из tollgate.example.yaml программой tools/docs-pages.ts: меняйте тот файл. -->

Запускайте с \`--config tollgate.yaml\` или назовите файл в \`TOLLGATE_CONFIG\`. Переменные
окружения важнее файла; переменная названа рядом с настройкой (для \`gateway.port\` подходит и
\`PORT\`). Секрет можно прочитать и из файла: \`DATABASE_URL_FILE=/run/secrets/database-url\`.
\`config check\` печатает каждое значение и откуда оно взято. В рабочем режиме (production)
значения с пометкой *только для разработки* не принимаются: сервер, который берёт деньги, не
должен работать на секретах для разработки.
`,
} as const

function rowOf({ path, value, comment }: Line, translate: (text: string) => string): string {
  const setting = listSettings().find(({ name }) => name === path)
  if (setting === undefined) throw new Error(`tollgate.example.yaml has an unknown ${path}`)
  return `| \`${path}\` \`${setting.env}\` | \`${value}\` | ${cell(translate(comment))} |`
}

/** Escapes the bar, which would end the table cell, and what would begin an element. */
function cell(text: string): string {
  return text.replace(/\||(?<!\\)<(?=\w)/g, '\\$&')
}

/** The areas of the file; the settings above the first one are the general ones. */
function readAreas(): readonly Area[] {
  const [, ...body] = readFileSync(join(root, 'tollgate.example.yaml'), 'utf8').split('\n\n')
  const areas: { name: string; comment: string; lines: Line[] }[] = [
    { name: '', comment: '', lines: [] },
  ]
  let comments: string[] = []
  for (const line of body.join('\n\n').split('\n')) {
    const comment = /^ *# ?(.*)$/.exec(line)
    if (comment !== null) comments.push(comment[1] ?? '')
    const [, indent, name = '', value = ''] = /^( *)(\w+):(?: (.*))?$/.exec(line) ?? []
    if (indent === undefined) continue
    const text = textOf(comments)
    comments = []
    if (value === '') areas.push({ name, comment: text, lines: [] })
    else {
      const area = indent === '' ? areas[0] : areas.at(-1)
      const path = indent === '' ? name : `${area?.name}.${name}`
      area?.lines.push({ path, value: value.replace(/^"(.*)"$/, '$1'), comment: text })
    }
  }
  return areas
}

function textOf(comments: readonly string[]): string {
  return comments
    .join(' ')
    .replaceAll('[development]', '*Development only.*')
    .replaceAll('[secret]', 'Secret.')
    .trim()
}
