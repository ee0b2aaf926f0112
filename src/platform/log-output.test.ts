// The log's output while nobody reads it, and at the end of a process.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLogOutput } from './log-output.ts'

const MODULE = join(import.meta.dirname, 'log-output.ts')
const LINES = 100_000
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A pipe whose writing end blocks when it is full, as standard output does. */
function createPipe(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pipe-'))
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, 'w')
  rmSync(folder, { recursive: true })
  t.after(() => closeSync(writer))
  const bytes = Buffer.alloc(1 << 16)
  return {
    writer,
    close: () => closeSync(reader),
    /** What is in the pipe now. */
    read(): string {
      try {
        return bytes.toString('utf8', 0, readSync(reader, bytes))
      } catch {
        return ''
      }
    },
  }
}

test('does not wait for its reader; says later how many lines it dropped', async (t) => {
  const pipe = createPipe(t)
  const output = createLogOutput(pipe.writer)
  const reported: number[] = []
  output.onDropped = (count) => {
    reported.push(count)
    output.write(`dropped ${count}\n`)
  }
  for (let i = 0; i < LINES; i++) output.write(`${i} ${'x'.repeat(120)}\n`)
  await sleep(200)
  assert.ok(output.dropped() > LINES / 4, `${output.dropped()} dropped`)
  const read: string[] = []
  while (!read.at(-1)?.endsWith(`dropped ${output.dropped()}\n`)) {
    const text = pipe.read()
    if (text !== '') read.push(text)
    await sleep(0)
  }
  const lines = read.join('').trimEnd().split('\n')
  assert.deepEqual(reported, [output.dropped()])
  assert.equal(lines.length - 1, LINES - output.dropped())
  assert.ok(lines.slice(0, -1).every((line, i) => line.startsWith(`${i} x`) && line.endsWith('x')))
  pipe.close()
})

test('lines of two processes that share a full pipe stay whole', async (t) => {
  const pipe = createPipe(t)
  const outputs = [createLogOutput(pipe.writer), createLogOutput(pipe.writer)]
  for (let i = 0; i < 5_000; i++) {
    for (const [j, output] of outputs.entries()) output.write(`${j} ${'é'.repeat(100)}\n`)
  }
  const read: string[] = []
  const lines = () => read.join('').split('\n').slice(0, -1)
  for (let idle = 0; idle < 100; idle = read.at(-1) === '' ? idle + 1 : 0) {
    await sleep(1)
    read.push(pipe.read())
  }
  assert.equal(lines().length, 10_000)
  assert.ok(lines().every((line) => /^[01] é{100}$/.test(line)))
  pipe.close()
})

test('writes every line before the process ends, by itself, by exit or by an error', () => {
  for (const end of ['', 'process.exit(0)', 'throw new Error()']) {
    const program = `
      import { standardOutput } from ${JSON.stringify(MODULE)}
      for (let i = 0; i < 5000; i++) standardOutput.write(i + ' ' + 'x'.repeat(100) + '\\n')
      ${end}`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program])
    const lines = `${stdout}`.trimEnd().split('\n')
    assert.equal(lines.length, 5_000, end)
    assert.ok(
      lines.every((line) => /^\d+ x{100}$/.test(line)),
      end,
    )
  }
})

test('a reader that has gone does not end the process', () => {
  const program = `
    import { standardOutput } from ${JSON.stringify(MODULE)}
    for (let i = 0; i < 5000; i++) standardOutput.write(i + ' ' + 'x'.repeat(100) + '\\n')
    setTimeout(() => console.error('alive'), 1000)`
  const command = `"$0" --input-type=module -e "$1" | head -c 1`
  const { stderr } = spawnSync('sh', ['-c', command, process.execPath, program])
  assert.equal(`${stderr}`, 'alive\n')
})
