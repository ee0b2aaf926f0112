// Answers do not reveal whether an e-mail address has an account: registration, sign-in and reset
// of a real cabinet answer known and unknown addresses with the same status, headers, body and
// time. Both are requested at once, in random order, so that a busy machine delays both; the
// Mann-Whitney test compares the times. As a control, the same test must find the difference on a
// cabinet that does not delay its answers.
import { CABINET, PASSWORD } from '../stages/accounts.ts'
import { createCabinetBrowser } from '../stages/cabinet.ts'
import { startServed } from '../stages/served/served.ts'
import type { Drill, Figures } from '../support/drill.ts'
import { ensure, percentile, random } from '../support/drill.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'

/** Standard deviations; exceeded by chance once in about 16,000 comparisons. */
const DEVIATION_MAX = 4
/** Far below what a network adds to each answer. */
const APART_MS_MAX = 5
/** Enough to see the undelayed difference: only a known address gets an e-mail. */
const CONTROL_PAIRS = 400

type Flow = {
  readonly route: string
  readonly status: number
  body(email: string): object
}

type Name = 'register' | 'signIn' | 'reset'

const flows: Readonly<Record<Name, Flow>> = {
  register: {
    route: 'POST /api/auth/register',
    status: 200,
    body: (email) => ({ email, password: PASSWORD, language: 'ru', consents: [] }),
  },
  signIn: {
    route: 'POST /api/auth/sign-in/email',
    status: 401,
    body: (email) => ({ email, password: 'not this password' }),
  },
  reset: {
    route: 'POST /api/auth/request-password-reset',
    status: 200,
    body: (email) => ({ email }),
  },
}

type Sample = { readonly ms: number; readonly shape: string }
type Pairs = { readonly known: Sample[]; readonly unknown: Sample[] }

export const drill: Drill = async ({ isFull, seed, say }) => {
  const pairs = isFull ? 300 : 60
  const database = await createTestDatabase()
  try {
    const control = { answerMs: 1, pairs: CONTROL_PAIRS, seed, names: ['reset'] } as const
    const seen = compared((await measure(database, control)).reset)
    say(`control without delay: a reset is ${seen.deviations} deviations apart`)
    ensure(
      Math.abs(seen.deviations) > DEVIATION_MAX,
      'the test finds the difference in the control',
    )

    const names = Object.keys(flows) as Name[]
    const measured = await measure(database, { pairs, seed: seed + 1, names })
    const figures: Figures = { pairs, controlDeviations: seen.deviations }
    for (const [name, samples] of Object.entries(measured)) {
      const { deviations, medianMs, apartMs } = compared(samples)
      say(`${name}: ${medianMs} ms, pairs ${apartMs} ms apart, ${deviations} deviations`)
      Object.assign(figures, { [`${name}Deviations`]: deviations, [`${name}ApartMs`]: apartMs })
      checkAlike(name, samples)
      ensure(
        Math.abs(deviations) <= DEVIATION_MAX,
        `${name} takes equally long for known and unknown addresses`,
      )
      ensure(
        Math.abs(apartMs) <= APART_MS_MAX,
        `the answers of a pair of ${name} leave together (${apartMs} ms apart)`,
      )
    }
    return figures
  } finally {
    await database.drop()
  }
}

type Measure = {
  readonly names: readonly Name[]
  readonly pairs: number
  readonly seed: number
  /** Overrides accounts.answerMs; without it the cabinet uses its default. */
  readonly answerMs?: number
}

/** Sends `pairs` pairs of requests for each flow; the flows run at the same time. */
async function measure(database: TestDatabase, p: Measure): Promise<Record<Name, Pairs>> {
  const cabinet = await startServed('cabinet', settingsFor(database, p.answerMs), /"serving the/)
  try {
    const port = /"port":(\d+).*"serving the/.exec(cabinet.printed())?.[1]
    const url = `http://127.0.0.1:${port}`
    const draw = random(p.seed)
    const entries = p.names.map(async (name) => {
      const known = `${name.toLowerCase()}-${p.seed}@example.org`
      await makeKnown(database, url, known)
      const samples: Pairs = { known: [], unknown: [] }
      for (let i = 0; i < p.pairs; i++) {
        await askBoth(
          { url, flow: flows[name], known, unknown: `nobody-${i}-${known}` },
          samples,
          draw,
        )
      }
      return [name, samples] as const
    })
    // Has only `p.names`; callers read no other.
    return Object.fromEntries(await Promise.all(entries)) as Record<Name, Pairs>
  } finally {
    await cabinet.stop()
  }
}

/** Raises the throttles so that none of them refuses; other tests cover throttles. */
function settingsFor({ url }: TestDatabase, answerMs: number | undefined) {
  return {
    DATABASE_URL: url,
    BRAND_CABINET_URL: CABINET,
    CABINET_PORT: '0',
    CABINET_PAGES_DIRECTORY: 'none',
    METRICS_CABINET_PORT: '0',
    ACCOUNTS_ADDRESS_PER_MINUTE: '100000',
    ACCOUNTS_WRONG_PER_ACCOUNT: '1000',
    ACCOUNTS_LETTERS_PER_HOUR: '1000',
    ...(answerMs !== undefined && { ACCOUNTS_ANSWER_MS: String(answerMs) }),
  }
}

async function makeKnown({ db }: TestDatabase, url: string, email: string): Promise<void> {
  const visitor = createCabinetBrowser(url)
  await visitor.expectOk('POST /api/auth/register', { email, password: PASSWORD, language: 'ru' })
  const { rows } = await db.query('select body_text as text from letters where recipient = $1', [
    email,
  ])
  const code = /#code=([\w-]+)/.exec((rows[0] as { text: string }).text)?.[1]
  await visitor.expectOk('POST /api/auth/confirm', { code, password: PASSWORD })
}

async function askBoth(
  p: { url: string; flow: Flow; known: string; unknown: string },
  samples: Pairs,
  draw: () => number,
): Promise<void> {
  const sides = draw() < 0.5 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)
  await Promise.all(
    sides.map(async (side) => samples[side].push(await ask(p.url, p.flow, p[side]))),
  )
}

/** Sends the request from a new browser, without cookies. */
async function ask(url: string, flow: Flow, email: string): Promise<Sample> {
  const visitor = createCabinetBrowser(url)
  const startedMs = performance.now()
  const { status, body, headers } = await visitor.send(flow.route, flow.body(email))
  const ms = performance.now() - startedMs
  ensure(status === flow.status, `${flow.route} answers ${flow.status} and not ${status}`)
  // Leaves out what differs in every answer: request id and date.
  const { requestId: _, ...rest } = body
  const named = [...headers]
    .filter(([name]) => name !== 'date' && name !== 'request-id')
    .map(([name, value]) => [name, name === 'set-cookie' ? withoutRandom(value) : value])
  return { ms, shape: JSON.stringify([status, named.sort(), rest]) }
}

/** Each answer sets another random value, of the same length. */
function withoutRandom(cookie: string): string {
  return cookie.replace(/=[\w-]+/, (value) => `=${value.length}`)
}

function checkAlike(name: string, { known, unknown }: Pairs): void {
  const shapes = new Set([...known, ...unknown].map(({ shape }) => shape))
  ensure(
    shapes.size === 1,
    `${name} answers known and unknown addresses alike: ${[...shapes].join(' | ')}`,
  )
}

function compared({ known, unknown }: Pairs) {
  const [one, other] = [known.map(({ ms }) => ms), unknown.map(({ ms }) => ms)]
  const rounded = (value: number) => Math.round(value * 100) / 100
  // Per pair, because a busy machine delays both by more than the difference we look for.
  const apart = one.map((ms, pair) => ms - (other[pair] ?? 0))
  return {
    deviations: rounded(deviationsOf(one, other)),
    medianMs: rounded(percentile(other, 0.5)),
    apartMs: rounded(percentile(apart, 0.5)),
  }
}

/**
 * The Mann-Whitney statistic in standard deviations: 0 when each sample is the greater one equally
 * often, positive when the first one is more often. Ties are rare: times have fractions of a ms.
 */
function deviationsOf(one: readonly number[], other: readonly number[]): number {
  const wins = one.reduce(
    (sum, ms) =>
      sum + other.reduce((count, its) => count + (ms > its ? 1 : ms === its ? 0.5 : 0), 0),
    0,
  )
  const product = one.length * other.length
  return (wins - product / 2) / Math.sqrt((product * (one.length + other.length + 1)) / 12)
}
