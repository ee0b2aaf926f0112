// The name of a device, from what its browser sends.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceName } from './user-agent.ts'

test('a User-Agent header becomes browser and system', () => {
  const names = [
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36',
      'Chrome, Linux',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 YaBrowser/25.1 Safari/537.36',
      'Yandex Browser, Windows',
    ],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 15_0) Version/19.0 Safari/605.1', 'Safari, macOS'],
    [
      'Mozilla/5.0 (Linux; Android 16) Chrome/140.0 Mobile Safari/537.36 EdgA/140.0',
      'Edge, Android',
    ],
    ['curl/8.0', ''],
  ] as const
  for (const [agent, name] of names) assert.equal(deviceName(agent), name)
})
