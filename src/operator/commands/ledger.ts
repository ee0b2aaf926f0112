// Commands about the ledger and the installation: audit, lost charges, restores, days, roles.
import { showAlarms } from '../alarms/alarms.ts'
import { audit } from '../audit.ts'
import { exportDay, listDays, restoreDay } from '../days.ts'
import { listQuarantine, retryQuarantine, writeOffQuarantine } from '../quarantine.ts'
import { checkRestore, repairRestore } from '../restore.ts'
import { checkRoles, printRolesSql } from '../roles.ts'
import { listSecretKeys, listSecrets } from '../secrets.ts'
import { adoptSpools, forgetSpool, listSpools } from '../spools.ts'
import { type OperatorCommand, REASON, SINCE } from './command.ts'

export const ledgerCommands: readonly OperatorCommand[] = [
  {
    usage: 'alarms',
    permission: 'health.read',
    isUnattended: true,
    description: 'what is wrong now, and where its runbook is; exit 1 when something is',
    run: showAlarms,
  },
  {
    usage: 'audit',
    permission: 'checks.run',
    isUnattended: true,
    description: 'check every rule of the ledger; exit 1 when something is found',
    run: audit,
  },
  {
    usage: 'quarantine list',
    permission: 'checks.run',
    isUnattended: true,
    description: 'those that wait, with the reason',
    run: listQuarantine,
  },
  {
    usage: 'quarantine retry [request]',
    permission: 'installation.change',
    description: 'send all, or those of one request, now; exit 1 when one is refused again',
    run: retryQuarantine,
  },
  {
    usage: 'quarantine write-off <request>',
    permission: 'installation.change',
    description: 'give a charge up: it is not sent again',
    options: [REASON],
    run: writeOffQuarantine,
  },
  {
    usage: 'spool list',
    permission: 'checks.run',
    isUnattended: true,
    description: 'spools of lost processes that no process can reach; exit 1 when there is one',
    run: listSpools,
  },
  {
    usage: 'spool adopt <directory>',
    permission: 'installation.change',
    description: 'send the charges in the spool files of a directory',
    run: adoptSpools,
  },
  {
    usage: 'spool forget <process>',
    permission: 'installation.change',
    description: 'a disk is lost for good: stop the alarm',
    options: [REASON],
    run: forgetSpool,
  },
  {
    usage: 'restore check <directories...>',
    permission: 'installation.read',
    readsPersonalData: true,
    description: 'what logs, spools and the provider know and the database lost; exit 1 if any',
    options: [SINCE],
    run: checkRestore,
  },
  {
    usage: 'restore repair <directories...>',
    permission: 'installation.change',
    readsPersonalData: true,
    description: 'bring it back: payments, then charges, each once; revoke replaced keys',
    options: [SINCE],
    run: repairRestore,
  },
  {
    usage: 'roles check',
    permission: 'installation.read',
    isUnattended: true,
    description: 'compare what each role may do with what it should; exit 1 when it differs',
    run: checkRoles,
  },
  {
    usage: 'roles sql',
    // It is needed before there are roles, and is in every copy of the program.
    permission: null,
    description: 'the SQL that makes the roles and grants their rights',
    run: printRolesSql,
  },
  {
    usage: 'secrets list',
    permission: 'installation.read',
    isUnattended: true,
    description: 'how much each secret made; exit 1 when keys are under one that is not accepted',
    run: listSecrets,
  },
  {
    usage: 'secrets keys <secret> <id>',
    permission: 'installation.read',
    readsPersonalData: true,
    description: 'the current keys that a secret made, oldest first: tag or lookup, and its id',
    options: [['--limit <n>', 'how many; 100 without it']],
    run: listSecretKeys,
  },
  {
    usage: 'days list',
    permission: 'checks.run',
    isUnattended: true,
    description: 'days that left the ledger, and for how many days partitions exist',
    run: listDays,
  },
  {
    usage: 'days export <day>',
    permission: 'installation.change',
    isUnattended: true,
    description: 'write a detached day to ledger.exportDirectory now',
    run: exportDay,
  },
  {
    usage: 'days restore <day>',
    permission: 'installation.change',
    description: 'load an exported day into a table of its own, for reading',
    run: restoreDay,
  },
]
