// Commands about prices and where requests go: catalogue, upstreams, the vendor's bill.
import {
  applyCatalogue,
  changeFields,
  checkCatalogue,
  diffCatalogue,
  exportCatalogue,
  listVersions,
  rollBack,
  showVersion,
} from '../catalogue/catalogue.ts'
import { showMargin } from '../catalogue/margin.ts'
import { showUpstreamCosts } from '../upstreams/upstream-costs.ts'
import {
  addCredential,
  removeCredential,
  rotateCredential,
} from '../upstreams/upstream-credentials.ts'
import { drain, listUpstreams, setWeight, undrain } from '../upstreams/upstreams.ts'
import { importVendorBill, listVendorBills } from '../vendor-bill.ts'
import { LIMIT, NOTE, type OperatorCommand, VENDOR } from './command.ts'

const SELL_BELOW_COST = [
  '--sell-below-cost',
  'also when a price is below what the vendor bills',
] as const

export const priceCommands: readonly OperatorCommand[] = [
  {
    usage: 'catalogue list',
    permission: 'prices.read',
    isUnattended: true,
    description: 'every version ever applied',
    run: listVersions,
  },
  {
    usage: 'catalogue check <file>',
    permission: 'prices.read',
    isUnattended: true,
    description: 'read a file, say what is wrong or what it has',
    run: checkCatalogue,
  },
  {
    usage: 'catalogue diff <file>',
    permission: 'prices.read',
    isUnattended: true,
    description: 'what a file would change, also in money; exit 1 when it would',
    run: diffCatalogue,
  },
  {
    usage: 'catalogue margin',
    permission: 'prices.read',
    isUnattended: true,
    description: 'what prices leave after the vendor’s bill; exit 1 when one is a loss',
    options: [
      VENDOR,
      ['--catalogue <file>', 'the prices of a file, not those in force'],
      ['--model <id>', 'of one model only'],
      ['--all', 'every price list, not only the worst of each'],
    ],
    run: showMargin,
  },
  {
    usage: 'catalogue apply <file>',
    permission: 'prices.change',
    description: 'put a file in force as the next version',
    options: [['--note <text>', 'kept with the version'], VENDOR, SELL_BELOW_COST],
    run: applyCatalogue,
  },
  {
    usage: 'catalogue set <change...>',
    permission: 'prices.change',
    description: 'change fields, such as packs.pack-35m.priceKopecks=149900; no value removes one',
    // No --vendor: the console runs it too, and must read no file that a browser names.
    options: [NOTE, SELL_BELOW_COST],
    run: changeFields,
  },
  {
    usage: 'catalogue rollback <version>',
    permission: 'prices.change',
    description: 'put the prices of an earlier version in force again, as the next version',
    options: [NOTE, SELL_BELOW_COST],
    run: rollBack,
  },
  {
    usage: 'catalogue show [version]',
    permission: 'prices.read',
    isUnattended: true,
    description: 'who applied a version, when and why, and what it changed, also in money',
    run: showVersion,
  },
  {
    usage: 'catalogue export [version]',
    permission: 'prices.read',
    isUnattended: true,
    description: 'print a version as a file; the one in force without a number',
    run: exportCatalogue,
  },
  {
    usage: 'upstreams list',
    permission: 'upstreams.read',
    isUnattended: true,
    description: 'what all processes see of each credential at each upstream',
    run: listUpstreams,
  },
  {
    usage: 'upstreams cost [day]',
    permission: 'upstreams.read',
    isUnattended: true,
    description: 'what a day costs at each upstream, by our counts; today without one',
    options: [VENDOR],
    run: showUpstreamCosts,
  },
  {
    usage: 'upstreams add <name> <credential> <reference>',
    permission: 'upstreams.change',
    description: 'one more credential there: [bearer:]file:/path or env:NAME, read on every node',
    run: addCredential,
  },
  {
    usage: 'upstreams rotate <target> <reference>',
    permission: 'upstreams.change',
    description: 'new requests use the secret there; those under way go on with the old one',
    run: rotateCredential,
  },
  {
    usage: 'upstreams drain <name>',
    permission: 'upstreams.drain',
    description: 'no new request goes to an upstream, or to one credential; those under way go on',
    run: drain,
  },
  {
    usage: 'upstreams undrain <name>',
    permission: 'upstreams.drain',
    description: 'requests go there again',
    run: undrain,
  },
  {
    usage: 'upstreams remove <target>',
    permission: 'upstreams.change',
    description: 'forget a drained credential that was added, or the rotation of another',
    run: removeCredential,
  },
  {
    usage: 'upstreams weight <name> <n>',
    permission: 'upstreams.drain',
    description: 'its share of conversations among those of the same priority; 0: never asked',
    run: setWeight,
  },
  {
    usage: 'vendor-bill list',
    permission: 'figures.read',
    isUnattended: true,
    description: 'the last days that were compared; exit 1 when one is above the threshold',
    options: [LIMIT],
    run: listVendorBills,
  },
  {
    usage: 'vendor-bill import [file]',
    permission: 'checks.run',
    isUnattended: true,
    description: 'compare a usage report, or the vendor’s newest; exit 1 when something differs',
    options: [
      ['--costs <file>', 'the cost report of the same days'],
      VENDOR,
      ['--all', 'every line, not only those that do not tie'],
    ],
    run: importVendorBill,
  },
]
