// CSV that spreadsheets read and do not run as formulas; times in the owner's time zone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLocalTime } from '../../../platform/local-time.ts'
import { csvLine } from './csv.ts'

test('quotes text as RFC 4180 requires, and ends lines with CRLF', () => {
  const fields = ['plain', 'a,b', 'say "hi"', 'two\r\nlines', 'ёлка', null, '']
  assert.equal(csvLine(fields), 'plain,"a,b","say ""hi""","two\r\nlines",ёлка,,\r\n')
})

test('text that looks like a formula gets an apostrophe, numbers do not', () => {
  const texts = ['=1+1', '+7', '-2', '@sum', '\tx', '=a,"b"']
  assert.equal(csvLine(texts), `'=1+1,'+7,'-2,'@sum,'\tx,"'=a,""b"""\r\n`)
  assert.equal(csvLine([{ number: '-12.000001' }, { number: 7n }]), '-12.000001,7\r\n')
})

test('writes a time in the owner’s zone, with its offset from UTC', () => {
  const local = (zone: string, time: string) => createLocalTime(zone)(new Date(time))
  assert.equal(local('Europe/Moscow', '2026-11-15T21:30:00.5Z'), '2026-11-16T00:30:00.500+03:00')
  assert.equal(local('UTC', '2026-11-15T21:30:00Z'), '2026-11-15T21:30:00.000+00:00')
  assert.equal(local('America/St_Johns', '2026-01-01T00:00:00Z'), '2025-12-31T20:30:00.000-03:30')
  // The hour that occurs twice when summer time ends.
  const berlin = createLocalTime('Europe/Berlin')
  assert.equal(berlin(new Date('2026-10-25T00:59:59Z')), '2026-10-25T02:59:59.000+02:00')
  assert.equal(berlin(new Date('2026-10-25T01:00:00Z')), '2026-10-25T02:00:00.000+01:00')
})
