// What production refuses about the console; config.test.ts has the other checks of production.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from './config.ts'

/** The problems of the console's address; the rest of a production's settings is left out. */
function problemsOf(consoleUrl: string): string[] {
  const env = { TOLLGATE_MODE: 'production', OPERATORS_CONSOLE_URL: consoleUrl }
  const result = loadConfig({ env })
  assert.ok('problems' in result)
  return result.problems.filter((one) => one.startsWith('operators.consoleUrl'))
}

test('production refuses a console without TLS beyond the loopback', () => {
  const [found = '', ...more] = problemsOf('http://console.example.org')
  assert.match(found, /must be https/)
  assert.deepEqual(more, [])
  assert.deepEqual(problemsOf('https://console.example.org'), [])
  assert.deepEqual(problemsOf('http://127.0.0.1:9'), [])
})
