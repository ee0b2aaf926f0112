// The file of marks: where it lies, and that it never needs more room than it took at first.
import assert from 'node:assert/strict'
import { fstatSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { createMarks, MARKS } from './marks.ts'

const openDescriptors = () => readdirSync('/proc/self/fd').length

test('takes the room of every mark at once, so that a full folder cannot fail a write', () => {
  const marks = createMarks()
  assert.ok(typeof marks.stdio === 'number')
  const { blocks, size } = fstatSync(marks.stdio)
  assert.equal(size, MARKS)
  assert.ok(blocks * 512 >= MARKS, `${blocks} blocks`)
  assert.equal(marks.read(MARKS)(MARKS - 1), 'unused')
  marks.close()
})

test('takes the next folder when one cannot be used, and none twice', () => {
  const before = openDescriptors()
  const second = createMarks(['/nowhere', tmpdir(), '/dev/shm'])
  assert.ok(typeof second.stdio === 'number')
  assert.equal(fstatSync(second.stdio).dev, fstatSync(createdIn(tmpdir())).dev)
  second.close()
  for (const one of [createMarks(), createMarks()]) one.close()
  assert.equal(openDescriptors(), before + 1)
  assert.equal(createMarks(['/nowhere']).read(1)(0), 'busy', 'without a file all are')
})

function createdIn(folder: string): number {
  const { stdio } = createMarks([folder])
  assert.ok(typeof stdio === 'number')
  return stdio
}
