// Addresses of the copy of operators' acts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCopyAddress } from './copy-address.ts'

const syslog = { kind: 'syslog' }
const cases: [string, object | 'problem'][] = [
  ['none', { kind: 'none' }],
  ['file:/var/log/acts', { kind: 'file', path: '/var/log/acts' }],
  ['file:acts', 'problem'],
  ['file:', 'problem'],
  ['syslog:log.example.org:601', { ...syslog, host: 'log.example.org', port: 601 }],
  ['syslog:[::1]:601', { ...syslog, host: '::1', port: 601 }],
  ['syslog:/run/log', { ...syslog, host: '', port: 0, path: '/run/log' }],
  ['syslog:log.example.org', 'problem'],
  ['syslog:log.example.org:0', 'problem'],
  ['https://keep.example.org/acts', { kind: 'http', url: 'https://keep.example.org/acts' }],
  ['http://127.0.0.1:9000/acts', { kind: 'http', url: 'http://127.0.0.1:9000/acts' }],
  ['http://keep.example.org/acts', 'problem'],
  ['https://user:word@keep.example.org/acts', 'problem'],
  ['udp:log.example.org:514', 'problem'],
  ['', 'problem'],
]
for (const [text, expected] of cases) {
  test(`the copy's address ${text || '(empty)'}`, () => {
    const read = readCopyAddress(text)
    if (expected === 'problem') assert.ok('problem' in read, JSON.stringify(read))
    else assert.deepEqual(read, expected)
  })
}
