// The image without Docker: runs the steps of the Dockerfile in a folder and starts the result like
// a container: in production mode, as an unprivileged user, on read-only files, with secrets from
// files. It must migrate, serve, work, show pages, and stop.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Agent } from 'undici'
import { isReadBy, PROGRAMS } from '../../../src/platform/programs.ts'
import { listSettings } from '../../../src/platform/settings.ts'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { freePorts } from '../../../tools/free-port.ts'
import { onRoles } from '../../../tools/program-roles.ts'
import { writeDocuments } from '../../stages/cabinet.ts'
import { createAccounts } from '../../stages/served/gateway.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, sleep } from '../../support/drill.ts'
import { createTestDatabase, keySettings, serverUrl } from '../../support/harness.ts'
import { call } from '../support/gateway-caller.ts'
import { buildImage, type Image } from './image.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const READY_MS_MAX = 90_000

export const drill: Drill = async ({ isFull, say }) => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-image-'))
  await chmod(folder, 0o755)
  const database = await createTestDatabase(serverUrl, 'template0')
  const vendor = await startVendor()
  const children: ChildProcess[] = []
  try {
    const image = await buildImage(folder, isFull)
    const megabytes = Number((await run('du', ['-sm', image.root])).stdout.split('\t')[0])
    say(`built by the steps of the Dockerfile: ${megabytes} MB with Node`)
    const [port = 0, metrics = 0, cabinet = 0, cabinetMetrics = 0, work = 0] = await freePorts(5)
    const environment = {
      ...(await settings(folder, vendor.url, image.user)),
      GATEWAY_PORT: String(port),
      METRICS_PORT: String(metrics),
      CABINET_PORT: String(cabinet),
      METRICS_CABINET_PORT: String(cabinetMetrics),
      METRICS_WORK_PORT: String(work),
    }
    const databases = await databaseSettings(folder, database.url, image.user)
    const container = await openContainer(image, environment, databases)
    say(
      container.isReadOnly
        ? 'files are read-only'
        : 'files are writable, because this run is not root',
    )
    const { stdout } = await run(...container.command(['src/main.ts', 'migrate']))
    ensure(/^applied 0001/.test(stdout), `the image contains its migrations (${stdout.trim()})`)
    await operate(container, image)
    const [key = ''] = await createAccounts(database, 1)

    const roles = { serve: metrics, cabinet: cabinetMetrics, work }
    for (const [role, healthPort] of Object.entries(roles)) {
      const [program, words, options] = container.command(['src/main.ts', role])
      const child = spawn(program, words, { ...options, stdio: ['ignore', 'ignore', 'inherit'] })
      children.push(child)
      await whenHealthy(container, child, healthPort)
    }
    const agent = new Agent()
    const url = `http://127.0.0.1:${port}`
    const answer = await call(agent, url, { number: 5, key, isStream: true, reply: 'text 3' })
    ensure(answer.isWhole, `a message is answered (${answer.error})`)
    const page = await fetch(`http://127.0.0.1:${cabinet}/`)
    ensure(page.status === 200 && /<html/.test(await page.text()), 'the cabinet serves its pages')
    const built = await readdir(join(image.directory, 'web/dist/assets'))
    ensure(
      built.some((name) => name.startsWith('quick-start-')),
      'the pages include the documentation',
    )
    await agent.close()
    for (const child of children) {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      const [code] = await exited
      ensure(code === 0, `it exits with 0 after SIGTERM (${code})`)
    }
    return { megabytes, isReadOnly: String(container.isReadOnly), roles: children.length }
  } finally {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL')
    await vendor.close()
    await database.drop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The settings that production requires; secrets are files that only the image's user can read. */
async function settings(folder: string, upstreamUrl: string, user: string) {
  const secrets: Record<string, string> = {
    KEYS_TAG_SECRET: keySettings.tagSecret.reveal(),
    KEYS_LOOKUP_SECRET: keySettings.lookupSecret.reveal(),
    ACCOUNTS_SECRET: randomBytes(32).toString('hex'),
    OPERATORS_SECRET: randomBytes(32).toString('hex'),
    PAYMENTS_DIGEST_SECRET: randomBytes(32).toString('hex'),
    MAIL_SMTP_URL: 'smtps://mail.example.org:465',
    YOOKASSA_SECRET_KEY: 'live_none',
    UPSTREAM_KEY: 'stand-in-key-2',
  }
  const files = await writeSecrets(join(folder, 'secrets'), secrets, user)
  // The image contains only the example's prices, which production refuses, and so is a copy.
  const example = await readFile(join(root, 'catalogue.example.yaml'), 'utf8')
  const own = example.replace('priceKopecks: 130000', 'priceKopecks: 140000')
  await writeFile(join(folder, 'catalogue.yaml'), own)
  return {
    ...files,
    UPSTREAM_URL: upstreamUrl,
    BRAND_REQUISITES: 'Example Ltd',
    BRAND_DOCUMENTS_FILE: await writeDocuments(folder),
    CATALOGUE_FILE: join(folder, 'catalogue.yaml'),
    GATEWAY_PUBLIC_URL: 'https://api.example.org',
    GATEWAY_PROCESSES: '2',
    GATEWAY_DRAIN_IDLE_SECONDS: '0',
    BRAND_CABINET_URL: 'https://cabinet.example.org',
    BRAND_SUPPORT_EMAIL: 'support@example.org',
    MAIL_FROM: 'Letters <letters@example.org>',
    YOOKASSA_URL: 'https://api.yookassa.ru/v3',
    YOOKASSA_SHOP_ID: '123456',
  }
}

/** Each program has its own address of the database; `migrate` has the owner's. */
async function databaseSettings(folder: string, url: string, user: string) {
  const own = ['migrate', 'serve', 'cabinet', 'work', 'op'].map(async (command) => {
    const env = onRoles(command, { DATABASE_URL: url } as Readonly<Record<string, string>>)
    const { DATABASE_ROLES: roles = 'separate', ...urls } = env
    const files = await writeSecrets(join(folder, `database of ${command}`), urls, user)
    return [command, { ...files, DATABASE_ROLES: roles }] as const
  })
  return new Map(await Promise.all(own))
}

async function writeSecrets(
  directory: string,
  secrets: Readonly<Record<string, string>>,
  user: string,
) {
  const [uid = 0, gid = 0] = user.split(':').map(Number)
  await mkdir(directory)
  const files = Object.entries(secrets).map(async ([name, value]) => {
    const file = join(directory, name)
    await writeFile(file, `${value}\n`, { mode: 0o400 })
    if (process.getuid?.() === 0) await chown(file, uid, gid)
    return [`${name}_FILE`, file] as const
  })
  return Object.fromEntries(await Promise.all(files))
}

/** Runs an operator command; its record names the image's user by number, as it has no name. */
async function operate(container: Container, image: Image): Promise<void> {
  const op = async (...words: string[]) =>
    (await run(...container.command(['src/main.ts', 'op', ...words]))).stdout
  const terms = ['1', '--times', '1', '--until', '2099-12-31', '--note', 'newsletter']
  const made = await op('promo', 'create', 'WINTER', ...terms, '--yes')
  ensure(/^code WINTER is made/.test(made), `an op command works (${made.trim()})`)
  const { acts } = JSON.parse(await op('acts', '--json')) as { acts: { by: string }[] }
  const by = acts[0]?.by ?? ''
  const [number] = image.user.split(':')
  // Without root it runs as the developer, who has a name.
  ensure(!container.isReadOnly || by.startsWith(`${number}@`), `the record names who acted (${by})`)
}

type Container = Awaited<ReturnType<typeof openContainer>>

/** As root: private mounts, read-only except for the spool, and the image's user. */
async function openContainer(
  image: Image,
  environment: Readonly<Record<string, string>>,
  databases: Awaited<ReturnType<typeof databaseSettings>>,
) {
  const within = (value: string) => (value.startsWith('/app') ? `${image.root}${value}` : value)
  const own = Object.entries(image.environment).map(([name, value]) => [name, within(value)])
  const env = { PATH: process.env.PATH ?? '', ...Object.fromEntries(own), ...environment }
  const isReadOnly = process.getuid?.() === 0 && (await canMount())
  const node = join(image.root, 'usr/local/bin/node')
  const spool = join(image.directory, 'spool')
  const [user = '', group = ''] = image.user.split(':')
  const script = [
    `mount --bind ${spool} ${spool}`,
    `mount --rbind ${image.root} ${image.root}`,
    `mount -o remount,bind,ro ${image.root}`,
    `cd ${image.directory}`,
    `! touch forbidden 2>/dev/null`,
    `exec setpriv --reuid ${user} --regid ${group} --clear-groups --no-new-privs "$@"`,
  ].join(' && ')
  return {
    isReadOnly,
    /** The command line that runs Node in the container with these arguments. */
    command(words: readonly string[]): [string, string[], { cwd: string; env: typeof env }] {
      const program = words[1] ?? ''
      const own = withOwnSecrets({ ...env, ...databases.get(program) }, program)
      const given = { cwd: image.directory, env: own }
      if (!isReadOnly) return [node, [...words], given]
      const inside = ['sh', '-c', script, 'sh', node, ...words]
      return ['unshare', ['--mount', ...inside], given]
    },
  }
}

/** Each program has its own secrets only, as in compose.yaml. */
function withOwnSecrets(env: Readonly<Record<string, string>>, name: string | undefined) {
  const program = PROGRAMS.find((one) => one === name)
  const foreign = listSettings().filter((one) => !isReadBy(program, one))
  const names = new Set(foreign.map((one) => `${one.env}_FILE`))
  return Object.fromEntries(Object.entries(env).filter(([key]) => !names.has(key)))
}

async function canMount(): Promise<boolean> {
  const probe = 'mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp'
  return run('unshare', ['--mount', 'sh', '-c', probe]).then(
    () => true,
    () => false,
  )
}

/** Waits until the image's own health check succeeds. */
async function whenHealthy(container: Container, child: ChildProcess, port: number) {
  const deadline = performance.now() + READY_MS_MAX
  const [program, words, options] = container.command(['health.mjs', String(port)])
  for (;;) {
    const isHealthy = await run(program, words, options).then(
      () => true,
      () => false,
    )
    if (isHealthy) return
    ensure(child.exitCode === null, `the process does not exit by itself (${child.exitCode})`)
    ensure(performance.now() < deadline, 'the process becomes healthy in time')
    await sleep(200)
  }
}
