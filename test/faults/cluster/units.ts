// Our programs as deploy/systemd starts them: in production mode, with the environment of the unit
// and with secrets from files, one folder of credentials for each unit, in the stage's folder.
import { readFileSync } from 'node:fs'
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { root, unitFile } from '../../support/deploy-files.ts'

export type Unit = 'migrate' | 'gateway' | 'worker' | 'cabinet'

/** Each file of /etc/tollgate/secrets. */
export type Secrets = Readonly<Record<string, string>>

export async function writeSecrets(folder: string, secrets: Secrets): Promise<void> {
  await mkdir(join(folder, 'secrets'), { recursive: true })
  for (const [name, value] of Object.entries(secrets)) {
    await writeFile(join(folder, 'secrets', name), value, { mode: 0o400 })
  }
  await writeFile(join(folder, 'tollgate.yaml'), 'mode: production\n')
}

/**
 * The environment that systemd would give the unit. `folder` takes the place of /etc/tollgate, and
 * `group` tells apart two gateways, which on two machines would have the same paths.
 */
export async function environmentOf(unit: Unit, folder: string, group = unit as string) {
  const lines = readFileSync(join(root, unitFile(unit)), 'utf8').split('\n')
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1))
  const credentials = join(folder, 'credentials', group)
  await mkdir(credentials, { recursive: true })
  for (const credential of valuesOf('LoadCredential')) {
    const [name = '', path = ''] = credential.split(':')
    const file = join(credentials, name)
    await copyFile(join(folder, 'secrets', basename(path)), file)
    await chmod(file, 0o400)
  }
  const environment: Record<string, string> = {}
  for (const pair of valuesOf('Environment').flatMap((line) => line.split(' '))) {
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    environment[name] = value
      .replace('%d', credentials)
      .replace('/etc/tollgate', folder)
      .replace('/var/lib/tollgate', join(folder, 'state', group))
  }
  const spool = environment.LEDGER_SPOOL_DIRECTORY
  if (spool !== undefined) await mkdir(spool, { recursive: true, mode: 0o700 })
  return environment
}
