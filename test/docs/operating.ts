// The operators' pages as lists of what is typed and what is printed, and a stage on which to type
// it again. Ids and times differ from run to run, so each id of the page is bound to the printed
// one at its first use, and replaced by it afterwards.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requestIdOf } from '../../src/platform/ids.ts'
import { createOperatorStage } from '../stages/operator.ts'

/** One command of the page: its words, what is typed when it asks, and what it prints. */
export type Example = {
  readonly line: string
  readonly words: readonly string[]
  readonly answer: string | undefined
  readonly printed: readonly string[]
}

/** The examples of the fenced blocks of one kind, in the order of the page. */
export function examplesOf(page: string, kind: 'console' | 'text'): Example[] {
  const blocks = page.matchAll(new RegExp(`^\`\`\`${kind}\\n([^]*?)^\`\`\`$`, 'gm'))
  return [...blocks].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [line = '', ...printed] = text.trimEnd().split('\n')
        const question = printed.map((one) => /(?:to do it:|\[y\/N\]) (.*)$/.exec(one)?.[1])
        return { line, words: wordsOf(line), answer: question.find(Boolean), printed }
      }),
  )
}

/** Words as a shell splits them; single quotes are the only ones that the page needs. */
export function wordsOf(line: string): string[] {
  const words = line.replace(/^op\s+/, '').matchAll(/'([^']*)'|(\S+)/g)
  return [...words].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

/** What differs from run to run: ids, the ends of keys, machines, times. */
const VARIABLE = new RegExp(
  [
    /(?:acc|key|opr|opa)_[\w-]+/,
    /(?<=invitation#|with the code )\S+/,
    /(?:pay|rfd|dsp|req)_[0-9a-f]+/,
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/,
    /…[\w-]{4}(?=\))/,
    /\(\S+@\S+\)/,
    /\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?/,
    /\d{4}-\d\d-\d\d(?= {2})/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

const CACHE_PRICES = 'cacheRead: 0.03, cacheWrite5m: 0.375'
/** What the page's vendor bills: one price of model-large is a loss. */
const VENDOR_PRICES = `currency: USD
kopecksPerUnit: 9600
models:
  - { name: model-large, input: 0.3, output: 1.6, ${CACHE_PRICES}, cacheWrite1h: 0.75 }
  - { name: model-medium, input: 0.3, output: 1.2, ${CACHE_PRICES}, cacheWrite1h: 0.6 }
  - { name: model-small, input: 0.3, output: 1.2, ${CACHE_PRICES}, cacheWrite1h: 0.6 }
`

export type Stage = Awaited<ReturnType<typeof createOperatingStage>>

/**
 * The people of the pages: Anna has a pack, a key and a request; Boris paid another sum; Vera paid,
 * and we have not heard of it yet.
 */
export async function createOperatingStage() {
  const stage = await createOperatorStage({}, { approveAdjustmentsAbove: 1_000_000 })
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-operating-'))
  const example = await readFile(join(import.meta.dirname, '../../catalogue.example.yaml'), 'utf8')
  const prices = join(directory, 'prices.yaml')
  await writeFile(prices, example.replace('priceKopecks: 130000', 'priceKopecks: 149900'))
  const vendor = join(directory, 'vendor.yaml')
  await writeFile(vendor, VENDOR_PRICES)
  const anna = await stage.person('anna')
  const order = await stage.buyPack(anna)
  const { body: key } = await anna.expectOk<{ id: string }>('POST /api/key')
  await anna.expectOk(`POST /api/key/${key.id}/confirm`)
  await stage.spend(anna.book, 1_287)
  const boris = await stage.person('boris')
  const { id } = await stage.buy(boris.book, { email: boris.email })
  await stage.sim('alter', { orderId: id, value: '1299.00' })
  await stage.sim('pay', { orderId: id })
  await stage.payments.check(id)
  const vera = await stage.person('vera')
  const stuck = await stage.buy(vera.book, { email: vera.email })
  await stage.sim('pay', { orderId: stuck.id })
  const charge = (await stage.entries(anna.book)).find(({ holdId }) => holdId !== null)
  assert.ok(charge?.holdId)
  // What a page types before it was printed.
  const bound = new Map<string, string>([
    ['prices.yaml', prices],
    ['vendor.yaml', vendor],
    ['pay_01a1de30a1d67000ad09e6d4f55fa20a', order.id],
    ['req_01a1de30a2117000b3c8a2c4d0e8f716', requestIdOf(charge.holdId)],
    ['2026-11-15', new Date().toISOString().slice(0, 10)],
  ])

  /** Sessions of the operators whom the page has invited. */
  const operators: string[] = []

  /** Whom a command has invited signs in, with a password and an app. */
  async function acceptInvitation(said: string): Promise<void> {
    const code = /with the code (\S+)/.exec(said)?.[1]
    if (code === undefined) return
    const password = 'a long enough sentence'
    const begun = await stage.staff.acceptInvitation({ ...stage.people.caller, code, password })
    operators.push((await stage.people.enrol(begun.token)).token)
  }

  return {
    order: order.id,

    /** Types an example; what was printed, in the page's own ids where they were bound. */
    async type({ words, answer }: Pick<Example, 'words' | 'answer'>): Promise<string[]> {
      const args = words.map((word) => bound.get(word) ?? word)
      // Who was invited last decides about requests; the first operator does everything else.
      const token = args[0] === 'approvals' ? operators.at(-1) : operators[0]
      const { all } =
        token === undefined
          ? await stage.op(['--as', 'olga', ...args], answer)
          : await stage.opAs(token, args, answer)
      await acceptInvitation(all)
      // Members of roles belong to the whole server, where tests have made some.
      const isOfServer = (line: string) => /^note: \S+ is a member of tollgate_/.test(line)
      return all
        .replace(/((?:to do it:|\[y\/N\]) )(?=\n|$)/, `$1${answer ?? ''}`)
        .replaceAll(stage.operators.consoleUrl, 'https://console.example.org')
        .replaceAll(prices, 'prices.yaml')
        .replaceAll(stage.ledger.spoolDirectory, '/var/lib/tollgate/spool')
        .split('\n')
        .filter((line) => !isOfServer(line))
    },

    /** Binds what differs; any difference that remains is a real one. */
    alike(page: readonly string[], printed: readonly string[]): [string[], string[]] {
      for (const [i, line] of page.entries()) {
        const [theirs, ours] = [line.match(VARIABLE) ?? [], printed[i]?.match(VARIABLE) ?? []]
        for (const [j, id] of theirs.entries()) bound.set(id, ours[j] ?? id)
      }
      const plain = (line: string) => line.replace(VARIABLE, '#').replace(/ +/g, ' ').trimEnd()
      return [page.map(plain), printed.map(plain)]
    },

    async end() {
      await stage.end()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
