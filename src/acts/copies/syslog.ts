// A copy in a syslog server: RFC 5424 messages, each with its length before it (RFC 6587), over TCP
// or a stream socket. Not over UDP, which loses messages. Syslog has no answers: a message counts
// as stored when the connection has ended in order, and nothing can be read back.

import { connect } from 'node:net'
import { hostname } from 'node:os'
import type { SyslogAddress } from '../../platform/copy-address.ts'
import type { Copy } from './port.ts'

/** Facility 13 (log audit), severity 5 (notice). */
const PRIORITY = 13 * 8 + 5
const TIMEOUT_MS = 10_000

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
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('the syslog server is silent')))
    socket.on('error', reject)
    // The server closes its side when it has read everything, which says that it is alive.
    socket.on('close', (hadError) => {
      if (!hadError) resolve()
    })
    socket.resume()
    socket.end(bytes)
  })
}
