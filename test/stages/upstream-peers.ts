// What the tests of upstreams need besides upstreams: a database and a vendor stand-in, both for
// all tests of a file.
import { after, before } from 'node:test'
import { startVendor, type Vendor } from '../../stand-ins/vendor/vendor.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'

/** Opened before the first test of the file, closed after the last. */
export function openUpstreamPeers() {
  const at = {
    database: undefined as unknown as TestDatabase,
    vendor: undefined as unknown as Vendor,
  }
  before(async () => {
    at.database = await createTestDatabase()
    at.vendor = await startVendor({})
  })
  after(async () => {
    await at.vendor.close()
    await at.database.drop()
  })
  return at
}
