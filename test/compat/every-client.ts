// The same call by each of the three majors of the official library, with `anthropic-version` in
// five forms: fifteen requests, sent together. A header that the gateway passes on tells them apart
// at the stand-in.
import assert from 'node:assert/strict'
import { Anthropic as Sdk1x8 } from '@anthropic-ai/sdk'
import { Anthropic as Sdk0x60 } from 'anthropic-sdk-0-60'
import { Anthropic as Sdk0x137 } from 'anthropic-sdk-0-137'
import type { Received } from '../../stand-ins/vendor/record.ts'
import { headerOf, type Stage } from './stage.ts'

/** What the client sends, where null leaves the header out, and what the upstream must get. */
export const versions = [
  ['no version', null, '2023-06-01'],
  ['an empty version', '', '2023-06-01'],
  ['an unknown version', '1999-12-31', '2023-06-01'],
  ['2023-06-01', '2023-06-01', '2023-06-01'],
  ['2026-10-21', '2026-10-21', '2026-10-21'],
] as const

export const LIBRARIES = ['1.8.0', '0.137.0', '0.60.0']
const MARK = 'anthropic-client'

/** Bodies and errors as programs without types see them: the rows also send what types forbid. */
export type Body = Readonly<Record<string, unknown>>
export type LibraryError = {
  readonly status: number
  readonly error: { readonly error: { readonly type: string; readonly message: string } } & Body
  readonly headers: Headers
}
type Options = { readonly headers: Readonly<Record<string, string | null>> }
type Library = {
  readonly messages: { create(body: Body, options: Options): Promise<unknown> }
  get(path: string, options: Options): Promise<unknown>
}

/** One of the fifteen, and how its call ended. */
export type Outcome = {
  readonly name: string
  /** The version that the upstream must get. */
  readonly version: string
  readonly reply: unknown
  readonly error: LibraryError | undefined
  readonly upstream: Received | undefined
}

export function everyClient(stage: Stage, key: string) {
  const options = { baseURL: stage.url, apiKey: key, timeout: 60_000, maxRetries: 0 }
  const libraries = [
    new Sdk1x8(options),
    new Sdk0x137(options),
    new Sdk0x60(options),
  ] as unknown as Library[]

  async function each(call: (library: Library, options: Options) => Promise<unknown>) {
    const calls = libraries.flatMap((library, i) =>
      versions.map(async ([form, given, version]): Promise<Outcome> => {
        const name = `${LIBRARIES[i]} with ${form}`
        const headers = { 'anthropic-version': given, [MARK]: name }
        const [reply, error] = await call(library, { headers }).then(
          (value) => [value, undefined] as const,
          (thrown: LibraryError) => [undefined, thrown] as const,
        )
        const upstream = stage.vendor.requests.find((one) => headerOf(one, MARK) === name)
        return { name, version, reply, error, upstream }
      }),
    )
    const outcomes = await Promise.all(calls)
    assert.equal(outcomes.length, 15)
    return outcomes
  }

  return {
    create: (body: Body) => each((library, more) => library.messages.create(body, more)),
    get: (path: string) => each((library, more) => library.get(path, more)),
    /** Reads each stream to its end; the reply is the list of its events. */
    events: (body: Body) =>
      each(async (library, more) => {
        const stream = await library.messages.create({ ...body, stream: true }, more)
        return Array.fromAsync(stream as AsyncIterable<unknown>)
      }),
  }
}

export type EveryClient = ReturnType<typeof everyClient>
