// A client on a bare socket that decides when it reads, and how it leaves.
import { connect } from 'node:net'
import { SCRIPT_HEADER } from './scripts.ts'

export type Reader = ReturnType<typeof openReader>

/** Sends a request for a stream, labelled with its script; reads nothing until `read`. */
export function openReader(port: number, key: string, script: string) {
  const body = JSON.stringify({
    model: 'model-small',
    max_tokens: 4_096,
    stream: true,
    messages: [{ role: 'user', content: 'Hello' }],
  })
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const state = { isClosed: false }
  socket.pause()
  socket.on('error', () => undefined)
  socket.on('close', () => {
    state.isClosed = true
  })
  // With `allowHalfOpen` the socket stays open after the gateway's FIN until we close it.
  socket.on('end', () => socket.destroy())
  socket.on('data', () => undefined).pause()
  const head = ['POST /v1/messages HTTP/1.1', 'host: gateway', `x-api-key: ${key}`]
  const more = ['content-type: application/json', `content-length: ${body.length}`]
  const own = [`${SCRIPT_HEADER}: ${script}`, `x-credit-label: ${script}`]
  socket.write([...head, ...more, ...own, '', body].join('\r\n'))
  return {
    read: () => void socket.resume(),
    pause: () => void socket.pause(),
    closeSendingSide: () => void socket.end(),
    leave: () => void socket.destroy(),
    isClosed: () => state.isClosed,
  }
}
