// The faults of the mail server, by recipient. The server uses the first fault that matches a
// recipient and the moment; one with `times` ends after that many uses.

export type Fault = {
  /** A recipient, with * for any run of characters: *@slow.example. */
  readonly to: string
  /** refuse: a reply of 4xx or 5xx. hang: no reply. drop: the connection ends. */
  readonly do: 'refuse' | 'hang' | 'drop'
  /**
   * rcpt: when the recipient is named. data: when the e-mail has arrived; it is not stored. reply:
   * when the e-mail has arrived; it is stored, so the client cannot know the outcome. after:
   * stored, 250 is sent, and then the connection is closed.
   */
  readonly at: Moment
  /** The code of a refusal; 450 is transient, 550 is permanent. */
  readonly code?: number
  /** The text after the code. */
  readonly text?: string
  /** How many e-mails it applies to; without it, all. */
  readonly times?: number
}

export type Moment = 'rcpt' | 'data' | 'reply' | 'after'

const moments: Readonly<Record<Fault['do'], readonly Moment[]>> = {
  refuse: ['rcpt', 'data'],
  hang: ['rcpt', 'data', 'reply'],
  drop: ['rcpt', 'data', 'reply', 'after'],
}

export type Faults = ReturnType<typeof createFaults>

export function createFaults() {
  const state: { all: { fault: Fault; left: number }[] } = { all: [] }
  return {
    list: (): Fault[] => state.all.filter(({ left }) => left > 0).map(({ fault }) => fault),
    set(...faults: readonly Fault[]): void {
      state.all = faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY }))
    },
    /** The fault that applies to one of these recipients now; takes one of its uses. */
    take(recipients: readonly string[], at: Moment): Fault | undefined {
      const met = state.all.find(
        ({ fault, left }) =>
          left > 0 && fault.at === at && recipients.some((one) => fitsPattern(one, fault.to)),
      )
      if (met !== undefined) met.left -= 1
      return met?.fault
    },
  }
}

function fitsPattern(recipient: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 'i').test(recipient)
}

/** Parses faults from HTTP: one or a list. Throws an error with a message for an invalid one. */
export function readFaults(value: unknown): Fault[] {
  return (Array.isArray(value) ? value : [value]).map((one) => {
    const fault = Object(one) as Partial<Fault>
    const allowed = moments[fault.do as Fault['do']]
    if (typeof fault.to !== 'string') throw new Error('a fault says `to` whom it happens')
    if (allowed === undefined) throw new Error('a fault does one of refuse, hang, drop')
    if (!allowed.includes(fault.at as Moment)) {
      throw new Error(`${fault.do} happens at one of ${allowed.join(', ')}`)
    }
    if (fault.code !== undefined && !(fault.code >= 400 && fault.code <= 599)) {
      throw new Error('a refusal has a code from 400 to 599')
    }
    return fault as Fault // each member was looked at, or is free
  })
}
