// Reads catalogues and vendor price lists for commands. A file that cannot be read ends the
// command.
import { readFile } from 'node:fs/promises'
import type { Catalogue, VendorPrices } from '../../pricing/pricing.ts'
import { commandError, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'

export async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw usageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? error}`)
  }
}

export async function catalogueOf(desk: Desk, file: string): Promise<Catalogue> {
  const read = desk.modules.pricing.parse(await textOf(file))
  if ('catalogue' in read) return read.catalogue
  throw problemsError(file, read.problems)
}

/**
 * The list of `--vendor`, else the one of the settings; undefined when there is none. `none` is a
 * word of the settings only: as an option it would apply a loss without `--sell-below-cost`.
 */
export async function vendorPricesOf(desk: Desk): Promise<VendorPrices | undefined> {
  const { vendorPricesFile } = desk.modules
  const file = desk.text('vendor') ?? (vendorPricesFile === 'none' ? undefined : vendorPricesFile)
  if (file === undefined) return undefined
  const read = desk.modules.pricing.parseVendorPrices(await textOf(file))
  if ('prices' in read) return read.prices
  throw problemsError(file, read.problems)
}

function problemsError(file: string, problems: readonly string[]) {
  return commandError(problems.map((one) => `${file}: ${one}`).join('\n'))
}
