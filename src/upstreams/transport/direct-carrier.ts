// Carries requests over our own HTTP/1.1 connections, node:net or node:tls. They are kept open
// between requests and carry one request at a time. One timer checks all deadlines: ten thousand
// timers would cost more than the requests. Why it is not undici: decision 0038.
import net from 'node:net'
import tls from 'node:tls'
import type { Carrier } from './carrier.ts'
import { Connection, DirectExchange, type DirectOptions, type OnRead } from './direct-connection.ts'

/** Deadlines are seconds or more, so a check this often is precise enough. */
const CHECK_MS = 250
/**
 * All sockets read into one shared buffer, one after the other, and the bytes are copied out: a
 * stream's events are small, and allocating 64 KiB for each read took a tenth of its CPU time.
 */
const READ_BYTES = 65_536

export function createDirectCarrier(options: DirectOptions): Carrier {
  const { host: authority } = new URL(options.url)
  const idle: Connection[] = []
  const all = new Set<Connection>()
  const connect = createConnect(options)
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
  const closed = new Error('the transport is closed')
  let isClosed = false

  function checkDeadlines(): void {
    const nowMs = options.spanMs()
    for (const connection of all) connection.checkDeadlines(nowMs)
  }

  // setImmediate, because Node runs timers before it reads sockets: after a slow turn, replies that
  // have arrived would be declared overdue before they are read.
  // `unref`: a command that builds the modules but sends nothing must be able to end.
  const timer = setInterval(() => setImmediate(checkDeadlines), CHECK_MS).unref()

  const owner = {
    options,
    release(connection: Connection) {
      idle.push(connection)
    },
    remove(connection: Connection) {
      all.delete(connection)
      const at = idle.indexOf(connection)
      if (at !== -1) idle.splice(at, 1)
    },
  }

  function open(): Connection {
    const connection = new Connection(owner, connect, buffer)
    all.add(connection)
    return connection
  }

  function start(exchange: DirectExchange): void {
    if (exchange.isOver) return
    // Take the connection used last, so that the others can reach their idle limit and close.
    const last = exchange.request?.isRepeated ? undefined : idle.at(-1)
    if (last?.mustBeChecked() === true) {
      // Twice: the first one may come before sockets are read again.
      setImmediate(() => setImmediate(start, exchange))
      return
    }
    if (last !== undefined) idle.pop()
    const connection = last ?? open()
    connection.take(exchange, authority)
  }

  return {
    send(request, listener) {
      const exchange = new DirectExchange(request, listener)
      if (isClosed) setImmediate(() => exchange.fail(closed))
      else start(exchange)
      return exchange
    },
    close() {
      isClosed = true
      clearInterval(timer)
      for (const connection of [...all]) connection.destroy(closed)
    },
  }
}

function createConnect(options: DirectOptions): (onread: OnRead) => net.Socket {
  const { protocol, hostname, port } = new URL(options.url)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  if (protocol !== 'https:') {
    const address = { host, port: Number(port) || 80, noDelay: true, keepAlive: true }
    return (onread) => net.connect({ ...address, onread })
  }
  const { ca, clientCertificate, clientKey } = options
  const settings = {
    host,
    port: Number(port) || 443,
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(clientCertificate === undefined
      ? {}
      : { cert: clientCertificate, key: clientKey?.reveal() }),
    ALPNProtocols: ['http/1.1'],
  }
  // Made once: certificates need not be parsed for every connection.
  const secureContext = tls.createSecureContext(settings)
  let session: Buffer | undefined
  return (onread) => {
    const resumed = session === undefined ? {} : { session }
    const given = { ...settings, ...resumed, secureContext, onread }
    const socket = tls.connect(given as tls.ConnectionOptions)
    socket.setNoDelay(true)
    socket.setKeepAlive(true)
    socket.on('session', (fresh) => {
      session = fresh
    })
    return socket
  }
}
