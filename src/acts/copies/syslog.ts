// A copy in a syslog server: RFC 5424 messages, each with its length before it (RFC 6587), over TCP
// or a stream socket. Not over UDP, which loses messages. Syslog has no answers, and nothing can be
// read back: messages count as stored when the server has taken them and keeps the connection.

import { connect } from 'node:net'
import { hostname } from 'node:os'
import type { SyslogAddress } from '../../platform/copy-address.ts'
import type { Copy } from './port.ts'

/** Facility 13 (log audit), severity 5 (notice). */
const PRIORITY = 13 * 8 + 5
const TIMEOUT_MS = 10_000
/** A server that refuses us closes at once; it may be as far away as another continent. */
const KEPT_MS = 500

export function openSyslogCopy(address: SyslogAddress): Copy {
  return {
    last: async () => 'unreadable',
    append: (lines) => send(address, Buffer.concat(lines.map(frameOf))),
  }
}

/** The time is that of the act, which the line has. */
function frameOf(line: string): Buffer {
  const at = /"at":"([^"]+)"/.exec(line)?.[1] ?? '-'
  const text = `<${PRIORITY}>1 ${at} ${hostname() || '-'} tollgate ${process.pid} act - ${line}`
  return Buffer.from(`${Buffer.byteLength(text)} ${text}`)
}

function send({ host, port, path }: SyslogAddress, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(path === undefined ? { host, port } : { path })
    const fail = (why: string) => () => socket.destroy(new Error(why))
    socket.setTimeout(TIMEOUT_MS, fail('the syslog server is silent'))
    socket.on('error', reject)
    socket.on('end', fail('the syslog server closed the connection'))
    socket.resume()
    socket.write(bytes, (error) => {
      if (error) return
      setTimeout(() => {
        if (socket.destroyed) return
        resolve()
        socket.removeAllListeners('end')
        socket.end()
      }, KEPT_MS)
    })
  })
}
