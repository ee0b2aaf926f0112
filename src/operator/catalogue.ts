// op catalogue: prices and packs. A file is checked, compared with what is in force, and applied as
// the next version; every process takes it up within five seconds, and running requests keep the
// prices they began with.
import { readFile } from 'node:fs/promises'
import type { Catalogue } from '../pricing/pricing.ts'
import type { Desk } from './desk/desk.ts'
import { countFrom } from './desk/figures.ts'
import { absent, EXIT_DONE, EXIT_NO, mistake } from './desk/halt.ts'
import { tableOf } from './desk/table.ts'

const COLUMNS = [
  { head: 'version', side: 'right' },
  { head: 'applied' },
  { head: 'by' },
  { head: 'note' },
] as const

export async function listVersions(desk: Desk): Promise<number> {
  const versions = await desk.rooms.pricing.history()
  const rows = versions.map(({ version, appliedAt, appliedBy, note }) => [
    String(version),
    `${appliedAt.slice(0, 19).replace('T', ' ')} UTC`,
    appliedBy,
    note,
  ])
  const lines = tableOf(COLUMNS, rows, desk.columns)
  desk.say({ versions }, lines.length === 0 ? ['none was ever applied'] : lines)
  return EXIT_DONE
}

export async function checkCatalogue(desk: Desk, file: string): Promise<number> {
  const read = desk.rooms.pricing.parse(await textOf(file))
  if ('complaints' in read) {
    desk.say({ complaints: read.complaints }, read.complaints)
    return EXIT_NO
  }
  const { models, packs } = read.catalogue
  const sum = `${models.length} models and ${packs.length} packs, nothing to complain about`
  desk.say({ complaints: [] }, [sum])
  return EXIT_DONE
}

/** Exit 1 when the two differ, as diff does. */
export async function diffCatalogue(desk: Desk, file: string): Promise<number> {
  const differences = await compared(desk, await catalogueOf(desk, file))
  const lines = differences.length === 0 ? ['the same as in force'] : differences
  desk.say({ differences }, lines)
  return differences.length === 0 ? EXIT_DONE : EXIT_NO
}

export async function applyCatalogue(desk: Desk, file: string): Promise<number> {
  const catalogue = await catalogueOf(desk, file)
  const differences = await compared(desk, catalogue)
  if (differences.length === 0) {
    desk.say({ isDone: false, differences }, ['the same as in force; nothing was changed'])
    return EXIT_DONE
  }
  return desk.actApart({
    plan: [`prices and packs of ${file}`, ...differences.map((one) => `  ${one}`)],
    work: () => desk.rooms.pricing.apply(catalogue, { by: desk.by, note: desk.text('note') ?? '' }),
    tell: ({ version }) => ({
      result: { version, differences },
      line: `version ${version} is in force; every process has it in five seconds`,
    }),
  })
}

/** The file form of a version, to be changed and applied again. */
export async function exportCatalogue(desk: Desk, number?: string): Promise<number> {
  const { pricing } = desk.rooms
  const version = number === undefined ? undefined : countFrom(number)
  if (number !== undefined && version === undefined) throw mistake(`${number} is no version`)
  const catalogue = version === undefined ? await pricing.refresh() : await pricing.version(version)
  if (catalogue === undefined) throw absent(`there is no version ${number ?? 'in force'}`)
  const text = pricing.format(catalogue)
  desk.say({ version: catalogue.version, text }, [text.trimEnd()])
  return EXIT_DONE
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw mistake(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? error}`)
  }
}

async function catalogueOf(desk: Desk, file: string): Promise<Catalogue> {
  const read = desk.rooms.pricing.parse(await textOf(file))
  if ('catalogue' in read) return read.catalogue
  throw absent(read.complaints.map((one) => `${file}: ${one}`).join('\n'))
}

/** Everything is new when nothing is in force. */
async function compared({ rooms }: Desk, catalogue: Catalogue): Promise<string[]> {
  const current = await rooms.pricing.refresh()
  return rooms.pricing.diff(current ?? { ...catalogue, models: [], packs: [] }, catalogue)
}
