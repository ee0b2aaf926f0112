// Questions in a real terminal: what is typed for a password is not shown, and the program ends
// after the last answer.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { runToEnd } from '../../../test/support/run-to-end.ts'

const script = join(import.meta.dirname, '../../../test/support/typed-terminal.py')
const opening = `import { openTerminal } from '${join(import.meta.dirname, 'terminal.ts')}'`
const program = `
  ${opening}
  const { ask, askHidden } = openTerminal()
  const answers = [await ask('E-mail: '), await askHidden('Password: '), await ask('Code: ')]
  console.log(answers.map((one) => one?.length).join(' '))`

test('a pipe is no terminal that somebody types at', async () => {
  const { out } = await runToEnd(
    process.execPath,
    ['--input-type=module', '-e', `${opening}; console.log(openTerminal().isInteractive)`],
    { env: { PATH: process.env.PATH ?? '' } },
  )
  assert.equal(out, 'false\n')
})

test('a password is not shown, and the program ends after its questions', async () => {
  const answers = [
    ['E-mail: ', 'olga@gate.example\r'],
    ['Password: ', 'a sentence of olga\r'],
    ['Code: ', '123456\r'],
  ]
  const args = [process.execPath, '--input-type=module', '-e', program]
  const { out, err } = await runToEnd('python3', [script, JSON.stringify(answers), ...args], {
    env: { PATH: process.env.PATH ?? '' },
  })
  assert.match(out, /E-mail: olga@gate\.example/, err)
  assert.doesNotMatch(out, /sentence/)
  assert.match(out, /^17 18 6\s+exited 0$/m)
})
