// The SMTP server: accepts every e-mail for every recipient, delivers none, and applies the
// configured faults.
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import type { Fault, Faults, Moment } from './faults.ts'
import type { Letters } from './letters.ts'

export type CatchingOptions = {
  readonly port: number
  readonly host: string
  /** The only accepted login; without it, every client is accepted. */
  readonly login?: { readonly user: string; readonly password: string }
  /** STARTTLS with this certificate; without one, STARTTLS is not offered. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

type Done = (error?: Error | null, message?: string) => void

/** Our e-mails are a few KiB; this is the limit of common relays. */
const LETTER_BYTES_MAX = 25 * 1024 * 1024

/** Listens before it resolves. */
export async function startCatching(
  options: CatchingOptions,
  { letters, faults }: { readonly letters: Letters; readonly faults: Faults },
) {
  const { login, tls } = options
  const sockets = new Set<Socket>()
  const smtp = new SMTPServer({
    ...tls,
    name: 'mailbox.stand-in',
    logger: false,
    size: LETTER_BYTES_MAX,
    disableReverseLookup: true,
    allowInsecureAuth: true,
    disabledCommands: [...(tls === undefined ? ['STARTTLS'] : []), ...(login ? [] : ['AUTH'])],
    onAuth: ({ username, password }, _session, done) =>
      username === login?.user && password === login?.password
        ? done(null, { user: username })
        : done(Object.assign(new Error('Authentication failed'), { responseCode: 535 })),
    onRcptTo: ({ address }, session, done) => {
      if (!meet(faults.take([address], 'rcpt'), session, done)) done()
    },
    onData: (stream, session, done) => {
      Array.fromAsync(stream as AsyncIterable<Buffer>)
        .then((chunks) => finish(Buffer.concat(chunks), session, done))
        .catch((error: Error) => done(error))
    },
  })

  const socketOf = ({ remotePort }: SMTPServerSession) =>
    [...sockets].find((socket) => socket.remotePort === remotePort)

  async function finish(raw: Buffer, session: SMTPServerSession, done: Done): Promise<void> {
    const { mailFrom, rcptTo } = session.envelope
    const to = rcptTo.map(({ address }) => address)
    const take = (at: Moment) => faults.take(to, at)
    if (meet(take('data'), session, done)) return
    await letters.add(raw, { from: mailFrom === false ? '' : mailFrom.address, to })
    if (meet(take('reply'), session, done)) return
    done(null, 'kept')
    // The reply is already written; this closes the connection after it.
    if (take('after') !== undefined) socketOf(session)?.end()
  }

  /** Applies the fault. False when there is none. */
  function meet(fault: Fault | undefined, session: SMTPServerSession, done: Done): boolean {
    if (fault?.do === 'refuse') {
      const code = fault.code ?? 550
      const text = fault.text ?? (code < 500 ? 'Try again later' : 'Not here')
      done(Object.assign(new Error(text), { responseCode: code }))
    }
    if (fault?.do === 'drop') socketOf(session)?.destroy()
    return fault !== undefined
  }

  smtp.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // A client that dies breaks its connection; some tests do that on purpose.
  smtp.on('error', () => undefined)
  smtp.listen(options.port, options.host)
  await once(smtp.server, 'listening')
  // Safe: a server that listens on a port has an address of this kind.
  const { port } = smtp.server.address() as AddressInfo
  return {
    port,
    async close(): Promise<void> {
      const closed = new Promise<void>((resolve) => smtp.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
