// How sums and moments are formatted in both languages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFormat } from './format.ts'

const ru = createFormat('ru', 'Europe/Moscow')
const en = createFormat('en', 'UTC')
/** Locales use no-break spaces; the expectations below have ordinary ones. */
const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ')
const credits = (whole: string) => ({ whole, exact: whole })

test('formats roubles with kopecks, thousands separators and the rouble sign', () => {
  assert.equal(plain(ru.rubles('130000')), '1 300,00 ₽')
  assert.equal(plain(ru.price('130000')), '1 300 ₽')
  assert.equal(plain(ru.price('3715')), '37,15 ₽')
  assert.equal(plain(ru.rubles('5')), '0,05 ₽')
  assert.equal(plain(ru.rubles('-130050')), '-1 300,50 ₽')
  assert.equal(plain(en.rubles('130000')), '₽1,300.00')
  assert.equal(plain(en.price('130000')), '₽1,300')
})

test('shows every digit of a sum beyond the precision of a float', () => {
  assert.equal(plain(ru.rubles('9007199254740993')), '90 071 992 547 409,93 ₽')
  assert.equal(plain(ru.credits(credits('9007199254740993'))), '9 007 199 254 740 993')
})

test('formats credits in full with separators, and in short form', () => {
  assert.equal(plain(ru.credits(credits('35000000'))), '35 000 000')
  assert.equal(plain(ru.creditsShort(credits('35000000'))), '35 млн')
  assert.equal(plain(ru.creditsShort(credits('950'))), '950')
  assert.equal(en.creditsShort(credits('35000000')), '35M')
})

test('rounds a short amount down', () => {
  assert.equal(plain(ru.creditsShort(credits('34999999'))), '34,9 млн')
  assert.equal(en.creditsShort(credits('999999')), '999K')
})

test('shows a moment in the owner’s time zone', () => {
  const at = '2026-11-15T21:30:00.000Z'
  assert.equal(plain(ru.moment(at)), '16 нояб. 2026, 00:30')
  assert.match(en.moment(at), /15 Nov 2026.*21:30/)
  assert.equal(ru.calendarDay('2026-11-15'), '15 нояб.')
})

test('shows how long ago a moment was within a day, and the moment after that', () => {
  const nowMs = Date.parse('2026-11-15T12:00:00Z')
  assert.match(ru.ago('2026-11-15T11:55:00Z', nowMs), /5 мин/)
  assert.match(ru.ago('2026-11-15T09:00:00Z', nowMs), /3 ч/)
  assert.match(ru.ago('2026-11-13T09:00:00Z', nowMs), /13 нояб/)
})
