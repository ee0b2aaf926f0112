// How sums and moments are read, in both languages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFormat } from './formats.ts'

const ru = createFormat('ru', 'Europe/Moscow')
const en = createFormat('en', 'UTC')
/** Locales put spaces that do not break where a reader sees a space. */
const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ')
const credits = (whole: string) => ({ whole, exact: whole })

test('roubles have kopecks, a space for thousands and their sign', () => {
  assert.equal(plain(ru.rubles('130000')), '1 300,00 ₽')
  assert.equal(plain(ru.rubles('5')), '0,05 ₽')
  assert.equal(plain(ru.rubles('-130050')), '-1 300,50 ₽')
  assert.equal(plain(en.rubles('130000')), '₽1,300.00')
})

test('a sum beyond what a float holds is shown to the last digit', () => {
  assert.equal(plain(ru.rubles('9007199254740993')), '90 071 992 547 409,93 ₽')
  assert.equal(plain(ru.credits(credits('9007199254740993'))), '9 007 199 254 740 993')
})

test('credits are grouped, and short when they must be', () => {
  assert.equal(plain(ru.credits(credits('35000000'))), '35 000 000')
  assert.equal(plain(ru.creditsShort(credits('35000000'))), '35 млн')
  assert.equal(plain(ru.creditsShort(credits('950'))), '950')
  assert.equal(en.creditsShort(credits('35000000')), '35M')
})

test('a short amount never promises more than there is', () => {
  assert.equal(plain(ru.creditsShort(credits('34999999'))), '34,9 млн')
  assert.equal(en.creditsShort(credits('999999')), '999K')
})

test('a moment is shown in the owner’s time zone', () => {
  const at = '2026-11-15T21:30:00.000Z'
  assert.equal(plain(ru.moment(at)), '16 нояб. 2026, 00:30')
  assert.match(en.moment(at), /15 Nov 2026.*21:30/)
  assert.equal(ru.calendarDay('2026-11-15'), '15 нояб.')
})

test('what was within a day is told as so long ago', () => {
  const nowMs = Date.parse('2026-11-15T12:00:00Z')
  assert.match(ru.ago('2026-11-15T11:55:00Z', nowMs), /5 мин/)
  assert.match(ru.ago('2026-11-15T09:00:00Z', nowMs), /3 ч/)
  assert.match(ru.ago('2026-11-13T09:00:00Z', nowMs), /13 нояб/)
})
