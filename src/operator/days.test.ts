// Tests of op days: what left the ledger, its export and its restoration.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'
import { createTestLedger, turnClock } from '../../test/support/harness.ts'
import type { BookId } from '../platform/ids.ts'

const at = { stage: undefined as unknown as OperatorStage, book: 0n as BookId, directory: '' }
const today = new Date().toISOString().slice(0, 10)

before(async () => {
  at.stage = await createOperatorStage()
  at.book = await at.stage.newBook()
  await at.stage.op(['grant', `${at.book}`, '5', '--reason', 'x', '--yes'])
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-op-days-'))
})
after(async () => {
  await at.stage.end()
  await rm(at.directory, { recursive: true, force: true })
})

test('lists how many days have partitions while no day has left', async () => {
  const { code, out } = await at.stage.op(['days'])
  assert.equal(code, 0)
  assert.equal(out, 'partitions exist for 61 days from today on\nno day has left the ledger')
})

test('exports a day when a directory is set, and restores it beside the ledger', async () => {
  const { db } = at.stage
  await turnClock(db, '2 days')
  const owner = await createTestLedger(at.stage.database.url)
  await owner.days.retire(0)
  await owner.end()
  const { days } = await at.stage.json<{ days: { day: string; state: string }[] }>('days')
  assert.deepEqual(days.at(-2)?.day, today)
  assert.deepEqual(days.at(-2)?.state, 'detached')
  const refused = await at.stage.op(['days', 'export', today])
  assert.deepEqual([refused.code, refused.err], [1, 'ledger.exportDirectory is not set'])
  const early = await at.stage.op(['days', 'restore', today])
  assert.deepEqual([early.code, /was not exported/.test(early.err)], [1, true])

  const exporting = await createTestLedger(at.stage.database.url, { exportDirectory: at.directory })
  try {
    const op = (words: string, answer: string) =>
      at.stage.op(words.split(' '), answer, { ledger: exporting })
    assert.equal((await op(`days export ${today}`, 'n')).code, 1)
    const exported = await op(`days export ${today}`, 'y')
    assert.equal(exported.code, 0, exported.err)
    const folder = join(at.directory, `entries-${today}-cell-0-[0-9]+`)
    assert.match(exported.out, new RegExp(`^${today}: [0-9 ]+ entries are in ${folder}$`))
    const again = await op(`days export ${today}`, 'y')
    assert.deepEqual([again.code, again.out], [0, `${exported.out}, as before`])
    const restored = await op(`days restore ${today}`, 'y')
    assert.equal(restored.code, 0, restored.err)
    const table = `entries_restored_${today.replaceAll('-', '')}`
    assert.match(restored.out, new RegExp(`entries are in the table ${table}$`))
    const { rows } = await db.query(`select book_id from ${table} where book_id = $1`, [at.book])
    assert.ok(rows.length > 0)
    const twice = await op(`days restore ${today}`, 'y')
    assert.equal(twice.code, 1)
    assert.match(twice.err, new RegExp(`the table ${table} already exists; drop it .*day_restored`))

    // The worker drops the table: only the files are left to look at.
    await exporting.days.retire(0)
    const dropped = await op(`days export ${today}`, 'y')
    assert.deepEqual([dropped.code, dropped.out], [0, `${exported.out}, as before`])
    const kept = (await exporting.days.find(today))?.folder ?? ''
    await db.query(`drop table ${table}`)
    const fails = async (reason: RegExp) => {
      for (const command of ['export', 'restore']) {
        const failed = await op(`days ${command} ${today}`, 'y')
        assert.deepEqual([failed.code, reason.test(failed.err)], [1, true], failed.err)
      }
    }
    await writeFile(join(kept, '000001.jsonl.gz'), 'damaged')
    await fails(/refused: .*000001.jsonl.gz was changed \(export_differs\)/)
    await rm(join(kept, '000001.jsonl.gz'))
    await fails(/no such file.*000001.*\(export_out_of_reach\)/)
    await writeFile(join(kept, 'manifest.json'), '{}')
    await fails(/manifest.json was changed/)
  } finally {
    await exporting.end()
  }
})

test('says so when a day is no day or has not left', async () => {
  const restore = (day: string) => at.stage.op(['days', 'restore', day])
  assert.deepEqual([(await restore('monday')).code, (await restore('2020-01-01')).code], [2, 1])
  for (const day of ['2026-02-31', '0000-01-01']) {
    const { code, err } = await restore(day)
    assert.deepEqual([code, err], [2, `${day} is no day, such as 2026-11-15`])
  }
  const statement = await at.stage.op(['statement', `${at.book}`, '--from', '2026-02-31'])
  assert.equal(statement.code, 2)
})
