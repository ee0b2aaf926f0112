// The probes, one per component. Each looks at its part as a customer would meet it, and says what
// it saw; prober.ts decides when, and status_record what that means.
import type { Masked } from '../../platform/masked.ts'
import { type Component, type Probe, type Verdict, verdict, WORKING } from '../components.ts'
import { type Call, call, failureOf } from './calls.ts'

export type ProbeOptions = {
  /** The public address of the API, without a slash at the end. */
  readonly apiUrl: string
  /** A key of an account of the operator's own, or `none`. */
  readonly key: Masked<string>
  /** The model that is asked; the catalogue may have changed since the start. */
  readonly model: () => string | undefined
  /** How many turns one paid message is for. */
  readonly turnsPerMessage: number
  readonly targets: () => Promise<readonly { readonly state: string }[]>
  readonly isSelling: boolean
  readonly payments: () => Promise<{
    readonly delayP99: number | null
    readonly sweepSeconds: number | null
    readonly sweepFailures: number
  }>
  readonly letters: () => Promise<{ readonly heldUpSeconds: number }>
  /** Connects to the mail relay and says what it refuses; undefined: it would take an e-mail. */
  readonly relayProblem: () => Promise<string | undefined>
}

/** We promise to credit a payment within a minute. */
const CREDIT_SECONDS_MAX = 60
/** Eight sweeps at the default pace. */
const SWEEP_SECONDS_MAX = 120
/** One failed call happens; the second is 15 s later at the default pace. */
const SWEEP_FAILURES_MAX = 1
/** A healthy relay takes an e-mail within seconds; people wait minutes for a link. */
const EMAIL_SLOW_SECONDS = 120
/** As the alarm `emails_wait`: nobody can register. */
const EMAIL_FAILED_SECONDS = 600

export function createProbes(options: ProbeOptions): Readonly<Record<Component, Probe>> {
  const { key, apiUrl } = options
  const login = key.reveal() === 'none' ? undefined : { 'x-api-key': key.reveal() }

  /** With a key the answer needs the database too; without one it shows that we are there. */
  async function gateway(signal: AbortSignal): Promise<Verdict> {
    const path = login === undefined ? '/api/hello' : '/v1/me'
    return judge(
      { url: `${apiUrl}${path}`, headers: login ?? {}, signal },
      ({ status, isOurs }) => {
        if (!isOurs) return verdict('failed', `${status} without a request id`)
        // A refused key was answered by us; the probe of the models reports it.
        return status < 500 ? WORKING : verdict('failed', `answered ${status}`)
      },
    )
  }

  /** Counting tokens is free and takes the same way to the model's server as a message. */
  function ask(model: string, isMessage: boolean, signal: AbortSignal): Promise<Verdict> {
    const messages = [{ role: 'user', content: 'ping' }]
    const body = JSON.stringify({ model, messages, ...(isMessage && { max_tokens: 1 }) })
    const url = `${apiUrl}/v1/messages${isMessage ? '' : '/count_tokens'}`
    const headers = { ...login, 'content-type': 'application/json' }
    return judge({ url, headers, body, signal }, ({ status }) => {
      if (status === 200) return WORKING
      // Not every model's server counts. Counting follows a message that worked; so does the next.
      if (status === 404 && !isMessage) return WORKING
      const what = `${isMessage ? 'a message' : 'counting'} was answered with ${status}`
      // 4xx is about our key, our credits or our model: it says nothing about the service.
      return verdict(status >= 500 ? 'failed' : 'unknown', what)
    })
  }

  async function models(
    { turn, state }: Parameters<Probe>[0],
    signal: AbortSignal,
  ): Promise<Verdict> {
    const targets = await options.targets()
    const closed = targets.filter((one) => one.state === 'closed').length
    const model = options.model()
    if (login === undefined || model === undefined) {
      return targets.length > 0 && closed === 0
        ? verdict('failed', 'no upstream serves')
        : verdict('unmeasured', login === undefined ? 'status.probeKey is not set' : 'no model')
    }
    const isDoubtful = !['working', 'slow'].includes(state)
    const isMessage = isDoubtful || turn % BigInt(options.turnsPerMessage) === 1n
    const seen = await ask(model, isMessage, signal)
    const isSlow = seen.state === 'working' && closed < targets.length
    return isSlow ? verdict('slow', `${targets.length - closed} upstreams do not serve`) : seen
  }

  async function payments(): Promise<Verdict> {
    if (!options.isSelling) return verdict('paused', 'payments.isOpen is false')
    const { delayP99, sweepSeconds, sweepFailures } = await options.payments()
    if (sweepSeconds === null) return verdict('unknown', 'the provider was never asked')
    if (sweepFailures > SWEEP_FAILURES_MAX) {
      return verdict('failed', `${sweepFailures} sweeps of the provider failed`)
    }
    if (sweepSeconds > SWEEP_SECONDS_MAX) {
      return verdict('slow', `the last sweep was ${Math.round(sweepSeconds)} s ago`)
    }
    const isLate = (delayP99 ?? 0) > CREDIT_SECONDS_MAX
    return isLate ? verdict('slow', 'payments are credited late') : WORKING
  }

  async function letters(): Promise<Verdict> {
    const [{ heldUpSeconds }, problem] = await Promise.all([
      options.letters(),
      options.relayProblem(),
    ])
    if (problem !== undefined) return verdict('failed', problem)
    if (heldUpSeconds <= EMAIL_SLOW_SECONDS) return WORKING
    const isLong = heldUpSeconds > EMAIL_FAILED_SECONDS
    return verdict(isLong ? 'failed' : 'slow', `an e-mail waits for ${Math.round(heldUpSeconds)} s`)
  }

  return {
    gateway: (_, signal) => gateway(signal),
    models,
    payments,
    letters,
  }
}

/** No answer is an answer too: customers got none either. */
async function judge(
  request: Call,
  of: (answer: Awaited<ReturnType<typeof call>>) => Verdict,
): Promise<Verdict> {
  try {
    return of(await call(request))
  } catch (error) {
    return verdict('failed', failureOf(error))
  }
}
