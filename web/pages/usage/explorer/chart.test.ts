// The arithmetic behind the usage page: chart, period, and the count of new requests.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { RequestLine } from '../../../../src/cabinet/contract/contract.ts'
import { creditsOf, decimalOf, millionthsOf, roundedParts, sumOf } from '../../../format/decimal.ts'
import { countNewRequests } from '../log/new-requests.ts'
import { customRangeProblem, filtered, spanOf, usageSearchOf } from '../period.ts'
import { roughly } from '../rough.ts'
import {
  amountsOf,
  labelledHours,
  labelledOf,
  piecesOf,
  scaleOf,
  seriesOf,
  shownAmounts,
} from './chart.ts'
import { COLOURS, colourOf, patternOf, slotsOf } from './slots.ts'

const MILLION = 1_000_000n
const noon = Date.parse('2026-11-15T12:00:00Z')
const named = (...keys: string[]) => keys.map((key) => ({ key }))

test('reads and writes an exact amount to the last digit', () => {
  for (const text of ['0', '0.000001', '1.25', '9007199254740993.000001', '-3.5']) {
    assert.equal(decimalOf(millionthsOf(text)), text)
  }
  assert.deepEqual(creditsOf(1_999_999n), { whole: '1', exact: '1.999999' })
  assert.throws(() => millionthsOf('1e6'))
  assert.throws(() => millionthsOf('1.0000001'))
})

test('has gridlines in steps of 1, 2 or 5, up to the first that no bar exceeds', () => {
  for (const most of [0n, 1n, 3n, 4n, 7n, 41n, 999n, 1_000n, 12_345_678n, 9_007_199_254_740_993n]) {
    const scale = scaleOf(most * MILLION, MILLION)
    const [, step = 0n] = scale
    assert.match(String(step / MILLION), /^[125]0*$/)
    assert.ok(scale.length <= 5 && (scale.at(-1) ?? 0n) >= most * MILLION)
    assert.ok(most === 0n || (scale.at(-2) ?? 0n) < most * MILLION)
  }
})

test('stacks the pieces of a bar without gaps up to the height of their sum', () => {
  const amounts = [3_333_333n, 0n, 1n, 6_666_666n]
  const pieces = piecesOf(amounts, 20n * MILLION, 200)
  assert.deepEqual(
    pieces.map(({ series }) => series),
    [0, 3],
  )
  assert.equal(pieces[0]?.from, 0)
  assert.equal(pieces[1]?.from, pieces[0]?.to)
  assert.equal(pieces.at(-1)?.to, Number((sumOf(amounts) * 20_000n) / (20n * MILLION)) / 100)
})

test('draws a small amount 2 pixels high, and nothing for zero', () => {
  assert.equal(piecesOf([1n * MILLION], 1_000_000n * MILLION, 200).at(-1)?.to, 2)
  assert.deepEqual(piecesOf([0n, 0n], MILLION, 200), [])
})

test('joins the keys beyond the maximum into one series without losing credits', () => {
  const eight = seriesOf(named(...'abcdefgh'), [])
  assert.deepEqual([eight.length, eight.at(-1)?.id], [8, 'h'])
  const rest = { key: null, isOther: true } as const
  const ten = seriesOf([...named(...'abcdefghi'), { key: null }, rest], [])
  assert.deepEqual(ten.at(-1), { id: '…', ids: ['h', 'i', '', '…'], slot: -1 })
  const uses = [...named('a', 'h'), { key: null }, rest]
  const amounts = amountsOf(uses, ten, () => MILLION)
  assert.deepEqual([amounts[0], amounts[7], sumOf(amounts)], [MILLION, 3n * MILLION, 4n * MILLION])
})

test('labels as many bars as there is room for', () => {
  assert.deepEqual(labelledOf(7, 10), [0, 1, 2, 3, 4, 5, 6])
  assert.deepEqual(labelledOf(30, 4), [0, 8, 16, 24])
  assert.equal(labelledOf(365, 5).length, 5)
  assert.deepEqual(labelledOf(2, 0), [0])
})

test('rounds an estimate to two digits', () => {
  assert.deepEqual([0n, 7n, 99n, 104n, 4_962n, 12_345n].map(roughly), [
    0n,
    7n,
    99n,
    100n,
    5_000n,
    12_000n,
  ])
})

test('rounds parts so that they add up to their total, rounded down', () => {
  const half = MILLION / 2n
  assert.deepEqual(roundedParts([half, half], MILLION), [1n, 0n])
  assert.deepEqual(roundedParts([1n, half, 2n * half], MILLION), [0n, 0n, 1n])
  assert.deepEqual(roundedParts([], MILLION), [])
  const amounts = [
    [1_700_000n, 900_000n, 0n],
    [800_000n, 0n, 3_300_000n],
    [0n, 400_000n, 1n],
  ]
  const { totals, buckets } = shownAmounts(amounts, MILLION)
  assert.equal(sumOf(totals), sumOf(amounts.flat()) / MILLION)
  for (const [series, total] of totals.entries()) {
    assert.equal(sumOf(buckets.map((bucket) => bucket[series] ?? 0n)), total)
  }
  for (const [at, bucket] of buckets.entries()) {
    for (const [series, shown] of bucket.entries()) {
      const apart = shown * MILLION - (amounts[at]?.[series] ?? 0n)
      assert.ok(apart > -MILLION && apart < MILLION, 'no amount is off by a credit')
    }
  }
})

test('a model keeps its colour and pattern whatever else was used', () => {
  const order = ['a', 'b', 'c']
  assert.deepEqual(
    [...slotsOf(['c', 'a'], order)],
    [...slotsOf(['c', 'a', 'b'], order)].slice(0, 2),
  )
  const alone = slotsOf(['retired'], order).get('retired')
  assert.equal(slotsOf(['retired', 'a'], order).get('retired'), alone)
  const all = Array.from(
    { length: 3 * COLOURS },
    (_, slot) => `${colourOf(slot)} ${patternOf(slot)}`,
  )
  assert.equal(new Set(all).size, all.length, 'thirty models can be told apart')
})

test('labels of hours name every day that they pass', () => {
  const hours = (days: number) =>
    Array.from({ length: days * 24 }, (_, hour) =>
      new Date(noon + (hour - 12) * 3_600_000).toISOString().slice(0, 16),
    )
  for (const [days, most] of [
    [1, 12],
    [2, 15],
    [7, 12],
    [14, 14],
  ] as const) {
    const labelled = labelledHours(hours(days), most)
    assert.ok(labelled.length <= most)
    for (let day = 0; day < days; day += 1) assert.ok(labelled.includes(day * 24), `day ${day}`)
  }
  assert.deepEqual(labelledHours(hours(14), 4), [0, 96, 192, 288])
})

test('counts a period in days of the owner’s time zone, ending today', () => {
  const at = Date.parse('2026-11-15T22:30:00Z')
  assert.deepEqual(spanOf({}, 'UTC', at), { from: '2026-11-09', to: '2026-11-15', step: 'day' })
  // In Moscow it is the next day already.
  assert.equal(spanOf({}, 'Europe/Moscow', at).to, '2026-11-16')
  assert.deepEqual(spanOf({ period: 'today' }, 'UTC', at).step, 'hour')
  assert.equal(spanOf({ period: 'year' }, 'UTC', noon).from, '2025-11-16')
  assert.equal(spanOf({ period: 'year', step: 'hour' }, 'UTC', noon).step, 'week')
  assert.equal(spanOf({ period: 'year', step: 'day' }, 'UTC', noon).step, 'day')
  assert.equal(spanOf({ period: 'week', step: 'week' }, 'UTC', noon).step, 'day')
})

test('takes a custom range as given, unless it is invalid', () => {
  const own = { period: 'own', from: '2026-10-30', to: '2026-11-02' } as const
  assert.deepEqual(spanOf(own, 'UTC', noon), { from: own.from, to: own.to, step: 'day' })
  assert.equal(spanOf({ ...own, to: '2026-10-01' }, 'UTC', noon).to, '2026-11-15')
  assert.equal(customRangeProblem('2026-11-02', '2026-11-01'), 'reversed')
  assert.equal(customRangeProblem('2025-11-01', '2026-11-15'), 'long')
  assert.equal(customRangeProblem('', '2026-11-15'), 'missing')
})

test('reads the filters from the URL and drops invalid values', () => {
  const raw = { period: 'month', step: 'year', ending: 'free', before: 4100, from: '2026-99-99' }
  assert.deepEqual(usageSearchOf(raw), { period: 'month', ending: 'free', before: '4100' })
  const bad = {
    period: 7,
    from: '2026-02-30',
    to: '1999-01-01',
    before: 'abc',
    open: {},
    model: [1],
  }
  assert.deepEqual(usageSearchOf(bad), {})
  const explored = {
    ...{ metric: 'cacheShare', split: 'label', compare: true, hidden: ['a', ''], label: '7' },
    ...{ hour: '2026-11-15T10:00:00.000Z', step: 'week' },
  }
  assert.deepEqual(usageSearchOf({ ...explored, label: 7 }), explored)
  const wrong = {
    metric: 'x',
    split: 1,
    compare: 'yes',
    hidden: [1],
    hour: '2026-02-30T10:00:00.000Z',
  }
  assert.deepEqual(usageSearchOf(wrong), {})
  const search = { model: 'a', before: '7', open: 'req_1' }
  assert.deepEqual(filtered(search, 'ending', 'refused'), { model: 'a', ending: 'refused' })
  assert.deepEqual(filtered(search, 'model', ''), {})
})

test('counts only the new requests that match the filters', () => {
  const shown = { from: '2026-11-15', to: '2026-11-15', zone: 'UTC' }
  const lines = [{ id: 'req_2', at: '2026-11-15T10:00:00Z' }]
  const latest = [
    requestLine('req_5', '12', 'a', false),
    requestLine('req_4', '11', 'b', true),
    requestLine('req_2', '10', 'a', false),
    requestLine('req_1', '09', 'a', false),
  ]
  assert.deepEqual(countNewRequests(lines, latest, shown), { count: 2, isMore: false })
  assert.deepEqual(countNewRequests(lines, latest, { ...shown, model: 'a' }).count, 1)
  assert.deepEqual(countNewRequests(lines, latest, { ...shown, ending: 'free' }).count, 1)
  assert.deepEqual(countNewRequests(lines, latest.slice(0, 2), shown), {
    count: 2,
    isMore: true,
  })
  assert.equal(countNewRequests(lines, [], shown).count, 0)
  const tomorrow = { from: '2026-11-16', to: '2026-11-16', zone: 'UTC' }
  assert.equal(countNewRequests([], latest, tomorrow).count, 0, 'none of them is of that day')
})

test('gives every series a contrast of 3:1 to its background in both themes', () => {
  const style = readFileSync(new URL('../../../style.css', import.meta.url), 'utf8')
  const pair = (name: string) =>
    new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(style)?.slice(1) ?? []
  const sheets = pair('sheet')
  assert.equal(sheets.length, 2)
  const numbers = Array.from({ length: COLOURS }, (_, colour) => colour + 1)
  for (const series of [...numbers, 'rest']) {
    const colours = pair(`series-${series}`)
    assert.equal(colours.length, 2)
    for (const [theme, colour] of colours.entries()) {
      assert.ok(contrast(colour, sheets[theme] ?? '') >= 3, `series ${series}: ${colour}`)
    }
  }
})

function requestLine(requestId: string, hour: string, model: string, isFree: boolean): RequestLine {
  const ending = isFree ? 'refused' : 'complete'
  const counts = { input: '1', output: '1', cacheRead: '0', cacheWrite: '0' }
  const credits = creditsOf(isFree ? 0n : MILLION)
  const at = `2026-11-15T${hour}:00:00Z`
  return { requestId, at, model, ending, ...counts, credits, isFree }
}

/** The contrast ratio of WCAG 2. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
