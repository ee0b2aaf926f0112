// What the caller of better-auth gets when the database was the reason.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase, settingsOf } from '../../test/support/harness.ts'
import { createPlainDbUser } from '../../test/support/plain-db-user.ts'
import { openDatabase } from '../platform/db/db.ts'
import { isMissingGrant } from '../platform/db/missing-grants.ts'
import { noteFailure, withDatabaseFailure } from './database-failures.ts'

test('the caller gets a missing grant and not better-auth’s own error', async () => {
  const database = await createTestDatabase()
  const dbUser = await createPlainDbUser(database)
  await dbUser.run('revoke select on sessions from NAME')
  const db = openDatabase(settingsOf(dbUser.url), 'test', () => undefined)
  const inBetterAuth = (text: string) => async () => {
    await noteFailure(db.query(text)).catch(() => {
      throw new Error('FAILED_TO_GET_SESSION')
    })
  }
  try {
    await assert.rejects(
      withDatabaseFailure(inBetterAuth('select from sessions'), () => true),
      (error) => isMissingGrant(error) && error.message.includes(dbUser.name),
    )
    await assert.rejects(
      withDatabaseFailure(inBetterAuth('select wrong'), () => true),
      /FAILED_TO_GET_SESSION/,
    )
  } finally {
    await db.end()
    await dbUser.drop()
    await database.drop()
  }
})
