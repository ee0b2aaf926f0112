// op catalogue: prices and packs. A file, changed fields or an earlier version are checked,
// compared with the version in force, and applied as the next version. Every process loads it
// within five seconds; running requests keep the prices they started with.
import type { AppliedVersion, Catalogue } from '../../pricing/pricing.ts'
import { credits } from '../../units/credits.ts'
import { rublesText } from '../../units/kopecks.ts'
import { millionthsText } from '../../units/price.ts'
import { parseCount } from '../desk/amounts.ts'
import { commandError, EXIT_DONE, EXIT_FAILED, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { tableOf } from '../desk/table.ts'
import { versionChanges } from './catalogue-versions.ts'
import { checkMargin } from './margin.ts'
import { catalogueOf, textOf } from './price-files.ts'

const COLUMNS = [
  { head: 'version', side: 'right' },
  { head: 'applied' },
  { head: 'by' },
  { head: 'note' },
] as const

export async function listVersions(desk: Desk): Promise<number> {
  const versions = await desk.modules.pricing.history()
  const lines = tableOf(COLUMNS, versions.map(rowOf), desk.columns)
  desk.say({ versions }, lines.length === 0 ? ['none was ever applied'] : lines)
  return EXIT_DONE
}

function rowOf({ version, appliedAt, appliedBy, note }: AppliedVersion): string[] {
  return [String(version), `${appliedAt.slice(0, 19).replace('T', ' ')} UTC`, ...[appliedBy, note]]
}

export async function checkCatalogue(desk: Desk, file: string): Promise<number> {
  const read = desk.modules.pricing.parse(await textOf(file))
  if ('problems' in read) {
    desk.say({ complaints: read.problems }, read.problems)
    return EXIT_FAILED
  }
  const { models, packs } = read.catalogue
  const lists = models.reduce((sum, model) => sum + model.lists.length, 0)
  const sum =
    `${models.length} models with ${lists} price lists and ${packs.length} packs, ` +
    'nothing to complain about'
  desk.say({ complaints: [], models: models.length, lists, packs: packs.length }, [
    sum,
    ...summaryOf(desk, read.catalogue),
  ])
  return EXIT_DONE
}

const MODEL_COLUMNS = [
  { head: 'model' },
  { head: 'input', side: 'right' },
  { head: 'output', side: 'right' },
  { head: 'lists', side: 'right' },
  { head: 'features' },
] as const
const PACK_COLUMNS = [
  { head: 'pack' },
  { head: 'RUB', side: 'right' },
  { head: 'RUB per million credits', side: 'right' },
] as const

function summaryOf({ modules, columns }: Desk, { models, packs }: Catalogue): string[] {
  const { kopecksOf, roublesDown } = modules.pricing.money
  const ofModels = models.map(({ id, price, lists, features }) => [
    id,
    millionthsText(price.input),
    millionthsText(price.coefficient),
    String(lists.length),
    Object.keys(features).join(', '),
  ])
  const ofPacks = packs.map((pack) => [
    pack.id,
    rublesText(pack.priceKopecks),
    roublesDown(kopecksOf(credits(1_000_000), pack)),
  ])
  return [...tableOf(MODEL_COLUMNS, ofModels, columns), ...tableOf(PACK_COLUMNS, ofPacks, columns)]
}

/** Exits with 1 when the file differs, as diff does. */
export async function diffCatalogue(desk: Desk, file: string): Promise<number> {
  const catalogue = await catalogueOf(desk, file)
  const current = await desk.modules.pricing.refresh()
  const { differences, inMoney } = differencesOf(desk, current, catalogue)
  const lines = differences.length === 0 ? ['the same as in force'] : differences
  desk.say({ differences, inMoney }, [...lines, ...inMoney.map((one) => `in money: ${one}`)])
  return differences.length === 0 ? EXIT_DONE : EXIT_FAILED
}

export async function applyCatalogue(desk: Desk, file: string): Promise<number> {
  const catalogue = await catalogueOf(desk, file)
  const current = await desk.modules.pricing.refresh()
  return putInForce(desk, { title: `prices and packs of ${file}`, catalogue, current })
}

/** Changes fields of the version in force, such as `packs.pack-35m.priceKopecks=149900`. */
export async function changeFields(desk: Desk, ...changes: string[]): Promise<number> {
  const { pricing } = desk.modules
  const current = await pricing.refresh()
  if (current === undefined) throw commandError('there is no version in force to change')
  const changed = pricing.change(current, changes)
  if ('catalogue' in changed) {
    const title = `fields of version ${current.version}, changed by hand`
    return putInForce(desk, { title, catalogue: changed.catalogue, current })
  }
  // One line for each field: the console shows it beside the field.
  const lines = changed.problems.map(({ field, sentence }) => `${field}: ${sentence}`)
  throw usageError(lines.join('\n'))
}

/** The prices and packs of an earlier version become the next version. */
export async function rollBack(desk: Desk, number: string): Promise<number> {
  const catalogue = await requireVersion(desk, number)
  const title = `prices and packs of version ${catalogue.version}`
  const current = await desk.modules.pricing.refresh()
  return putInForce(desk, { title, catalogue, current })
}

/** `current`: the version in force that the plan compares with, and that it may replace. */
async function putInForce(
  desk: Desk,
  p: {
    readonly title: string
    readonly catalogue: Catalogue
    readonly current: Catalogue | undefined
  },
): Promise<number> {
  const { pricing } = desk.modules
  const { title, catalogue, current } = p
  const { differences, inMoney } = differencesOf(desk, current, catalogue)
  if (differences.length === 0) {
    desk.say({ isDone: false, differences }, ['the same as in force; nothing was changed'])
    return EXIT_DONE
  }
  const margin = await checkMargin(desk, catalogue)
  return desk.actWithOwnTransactions({
    plan: [
      title,
      ...differences.map((one) => `  ${one}`),
      ...inMoney.map((one) => `  in money: ${one}`),
      ...margin.plan,
    ],
    needs: { kind: 'catalogue', size: 1n },
    async work() {
      // Otherwise what somebody applied while this plan was read would be undone unseen.
      const applied = await pricing.applyTo(current?.version, catalogue, {
        ...{ by: desk.by, note: desk.text('note') ?? '' },
      })
      if (applied !== undefined) return applied
      throw commandError('another version was applied meanwhile; look at the difference again')
    },
    report: ({ version }) => ({
      result: { version, differences, inMoney },
      line: `version ${version} is in force; every process has it in five seconds${margin.record}`,
    }),
  })
}

/** Who applied a version, when and why, and what it changed; the one in force without a number. */
export async function showVersion(desk: Desk, number?: string): Promise<number> {
  const { version } = await requireVersion(desk, number)
  const found = await versionChanges(desk.modules.pricing, version)
  if (found === undefined) throw commandError(`there is no version ${version}`)
  const { applied, differences, inMoney } = found
  desk.say({ ...applied, differences, inMoney }, [
    ...tableOf(COLUMNS, [rowOf(applied)], desk.columns),
    ...differences.map((one) => `  ${one}`),
    ...inMoney.map((one) => `  in money: ${one}`),
  ])
  return EXIT_DONE
}

/** Prints a version as a file, which can be edited and applied. */
export async function exportCatalogue(desk: Desk, number?: string): Promise<number> {
  const catalogue = await requireVersion(desk, number)
  const text = desk.modules.pricing.format(catalogue)
  desk.say({ version: catalogue.version, text }, text.trimEnd().split('\n'))
  return EXIT_DONE
}

/** The one in force without a number. */
async function requireVersion({ modules: { pricing } }: Desk, number?: string): Promise<Catalogue> {
  const version = number === undefined ? undefined : parseCount(number)
  if (number !== undefined && version === undefined) throw usageError(`${number} is no version`)
  const catalogue = version === undefined ? await pricing.refresh() : await pricing.version(version)
  if (catalogue === undefined) throw commandError(`there is no version ${number ?? 'in force'}`)
  return catalogue
}

/** With no version in force, everything in the file is new. */
function differencesOf(
  { modules: { pricing } }: Desk,
  current: Catalogue | undefined,
  catalogue: Catalogue,
) {
  const before = current ?? { ...catalogue, models: [], packs: [] }
  return {
    differences: pricing.diff(before, catalogue),
    inMoney: pricing.diffInMoney(before, catalogue),
  }
}
