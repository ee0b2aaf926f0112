// Clients in other languages, as Debian ships them, each with a plain call and a stream. What is
// missing is installed with apt-get, and only here; one that cannot be run says why.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { ask } from './clients.ts'
import { run } from './program.ts'
import { createStage, type Stage } from './stage.ts'

type Language = {
  readonly name: string
  readonly packages: readonly string[]
  /** Succeeds when everything it needs is there. */
  readonly probe: readonly [string, ...string[]]
  readonly program: string
  readonly parameters: (call: Call) => readonly string[]
  readonly read: (out: string) => Seen
}

type Call = { readonly url: string; readonly key: string; readonly body: string }
/** What a program sees; `last` is the last event of a stream. */
type Seen = { readonly status: number; readonly text: string; readonly last: string | null }

/** A script of ours takes its call from the environment and prints what it saw as JSON. */
const scripted = (file: string) => ({
  parameters: () => [join(import.meta.dirname, 'languages', file)],
  read: (out: string): Seen => JSON.parse(out),
})

const languages: readonly Language[] = [
  {
    name: 'Python, httpx',
    packages: ['python3', 'python3-httpx'],
    probe: ['/usr/bin/python3', '-c', 'import httpx'],
    program: '/usr/bin/python3',
    ...scripted('client.py'),
  },
  {
    name: 'PHP, curl',
    packages: ['php-cli', 'php-curl'],
    probe: ['/usr/bin/php', '-r', 'exit(function_exists("curl_init") ? 0 : 1);'],
    program: '/usr/bin/php',
    ...scripted('client.php'),
  },
  {
    name: 'Ruby, net/http',
    packages: ['ruby'],
    probe: ['/usr/bin/ruby', '-rnet/http', '-rjson', '-e', ''],
    program: '/usr/bin/ruby',
    ...scripted('client.rb'),
  },
  {
    name: 'curl',
    packages: ['curl'],
    probe: ['/usr/bin/curl', '--version'],
    program: '/usr/bin/curl',
    parameters: ({ url, key, body }) => [
      ...['-sS', '--no-buffer', '--max-time', '20', '--write-out', '\n%{http_code}'],
      ...['--header', `x-api-key: ${key}`, '--header', 'content-type: application/json'],
      ...['--data-binary', body, `${url}/v1/messages`],
    ],
    read: readCurl,
  },
]

type Json = { type: string; content?: { text: string }[]; delta?: { text?: string } }

function readCurl(out: string): Seen {
  const end = out.lastIndexOf('\n')
  const status = Number(out.slice(end + 1))
  const isStream = out.startsWith('event: ')
  const events = isStream
    ? [...out.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? '') as Json)
    : [JSON.parse(out.slice(0, end)) as Json]
  const texts = events.flatMap(({ content, delta }) => [...(content ?? []), delta ?? {}])
  const text = texts.map((one) => one.text ?? '').join('')
  return { status, text, last: isStream ? (events.at(-1)?.type ?? null) : null }
}

const CLIENT_MS_MAX = 30_000
const INSTALL_MS_MAX = 300_000
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8', HOME: '/nonexistent' }

/** True when every language that could be run was served as promised. */
export async function runLanguages(): Promise<boolean> {
  const stage = await createStage()
  let isFine = true
  try {
    for (const language of languages) {
      const problem = await provide(language)
      if (problem !== undefined) {
        console.log(`${language.name}: not run: ${problem}`)
        continue
      }
      try {
        await tryLanguage(language, stage)
        console.log(`${language.name}: ok, plain and streaming`)
      } catch (error) {
        isFine = false
        console.log(`${language.name}: FAILED: ${(error as Error).message}`)
      }
    }
  } finally {
    await stage.end()
  }
  return isFine
}

async function isThere({ probe: [program, ...parameters] }: Language): Promise<boolean> {
  return (await run({ program, parameters, env, msMax: CLIENT_MS_MAX })).code === 0
}

/** Undefined when the language can be run, else why not. */
async function provide(language: Language): Promise<string | undefined> {
  if (await isThere(language)) return undefined
  const { packages } = language
  if (process.getuid?.() !== 0) return `${packages.join(' and ')} missing; root would install them`
  console.log(`installing ${packages.join(' ')} with apt-get`)
  const noninteractive = { ...env, HOME: '/root', DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...parameters: string[]) =>
    run({ program: 'apt-get', parameters, env: noninteractive, msMax: INSTALL_MS_MAX })
  const install = ['install', '-q', '-y', '--no-install-recommends', ...packages]
  if ((await apt(...install)).code !== 0) {
    // The lists may be old, or not there at all.
    await apt('update', '-q')
    const { code, err } = await apt(...install)
    if (code !== 0) return `apt-get: ${err.trim().split('\n').at(-1)}`
  }
  return (await isThere(language)) ? undefined : 'installed, and still not there'
}

/** A plain call and a stream, each with text that is not ASCII. */
async function tryLanguage({ program, parameters, read }: Language, stage: Stage): Promise<void> {
  for (const stream of [false, true]) {
    stage.clear()
    const { key, ...account } = await stage.account(1_000_000)
    const said = 'Привет, world 👩‍🚀'
    const question = { ...ask(`Hello [[reply: say ${JSON.stringify(said)}]]`), stream }
    const call = { url: stage.url, key, body: JSON.stringify(question) }
    const { code, out, err } = await run({
      program,
      parameters: parameters(call),
      env: { ...env, GATEWAY_URL: call.url, GATEWAY_KEY: call.key, GATEWAY_BODY: call.body },
      msMax: CLIENT_MS_MAX,
    })
    assert.equal(code, 0, err)
    const last = stream ? 'message_stop' : null
    assert.deepEqual({ ...read(out) }, { status: 200, text: said, last })
    assert.equal(String(stage.upstream().body), call.body)
    await stage.assertCharged({ key, ...account })
  }
}
