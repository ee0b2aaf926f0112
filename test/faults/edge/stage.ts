// The edge as it is shipped: the files of deploy/nginx with other ports, folders and a certificate
// of our own, run by the real nginx in front of a gateway and, where there is one, a cabinet.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Agent } from 'undici'
import { ensureProgram } from '../../../bench/relay-tools.ts'
import { freePorts } from '../../stages/served/gateway.ts'
import { sleep } from '../../support/fault.ts'

const run = promisify(execFile)
const shipped = join(import.meta.dirname, '../../../deploy/nginx')
const READY_MS_MAX = 10_000

/** The hosts that the shipped files name. */
export const API_HOST = 'api.example.com'
export const CABINET_HOST = 'cabinet.example.com'

/** An address of the loopback that is the CDN's. */
export const CDN = '127.0.0.3'

export type Edge = Awaited<ReturnType<typeof startEdge>>

/** In front of the gateway at this port. Where the account area would be, nobody listens. */
export async function startEdge(gatewayPort: number) {
  const nginx = await ensureProgram('nginx', ['nginx-light'])
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-edge-'))
  try {
    // As root its workers run as another user, who must reach the folder.
    await chmod(folder, 0o755)
    const [port = 0, plainPort = 0, cabinetPort = 0] = await freePorts(3)
    const certificate = await makeCertificate(folder)
    await render(folder, [
      [/^\s*listen \[::\].*\n/gm, ''],
      [/^real_ip_header /gm, `set_real_ip_from ${CDN};\nreal_ip_header `],
      [/listen 443\b/g, `listen 127.0.0.1:${port}`],
      [/listen 80\b/g, `listen 127.0.0.1:${plainPort}`],
      [/\/etc\/nginx\/tollgate\//g, `${folder}/tollgate/`],
      [/\/etc\/nginx\/tls\/(?:api|cabinet)\./g, `${folder}/edge.`],
      [/\/var\/log\/nginx\//g, `${folder}/`],
      [/\/var\/lib\/nginx\//g, `${folder}/`],
      [/\/run\/nginx\.pid/g, `${folder}/nginx.pid`],
      [/127\.0\.0\.1:8080\b/g, `127.0.0.1:${gatewayPort}`],
      [/127\.0\.0\.1:8081\b/g, `127.0.0.1:${cabinetPort}`],
    ])
    const parameters = ['-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')]
    await run(nginx, ['-t', ...parameters])
    const command = [nginx, ...parameters, '-g', 'daemon off;']
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', ...command], { stdio: 'ignore' })
    await whenListening(port, child)
    return edgeOf({ folder, child, port, plainPort, certificate })
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

function edgeOf(running: {
  readonly folder: string
  readonly child: ChildProcess
  readonly port: number
  readonly plainPort: number
  readonly certificate: string
}) {
  const { folder, child, port, plainPort, certificate } = running
  return {
    port,
    plainPort,
    certificate,
    /** Where a client of the API sends its requests; `agent` knows the way. */
    url: `https://${API_HOST}:${port}`,
    agent: (connections: number) => agentOf(certificate, connections),
    /** Lines of the log, for requests that were answered by now. */
    logged: async () => linesOf(await readFile(join(folder, 'access.log'), 'utf8')),
    async stop(): Promise<void> {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit')
        child.kill('SIGTERM')
        await exited
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function makeCertificate(folder: string): Promise<string> {
  const openssl = await ensureProgram('openssl', ['openssl'])
  const [key, file] = [join(folder, 'edge.key'), join(folder, 'edge.pem')]
  const names = `subjectAltName=DNS:${API_HOST},DNS:${CABINET_HOST}`
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const of = ['-subj', `/CN=${API_HOST}`, '-addext', names, '-keyout', key, '-out', file]
  await run(openssl, ['req', '-x509', ...kind, ...of])
  return readFile(file, 'utf8')
}

/** Fails when a change fits nowhere: then the shipped files say something else by now. */
async function render(folder: string, changes: readonly (readonly [RegExp, string])[]) {
  const missing = new Set(changes.map(([from]) => from))
  await mkdir(join(folder, 'tollgate'))
  const parts = (await readdir(join(shipped, 'tollgate'))).map((name) => `tollgate/${name}`)
  for (const name of ['nginx.conf', ...parts]) {
    let text = await readFile(join(shipped, name), 'utf8')
    for (const [from, to] of changes) {
      const changed = text.replaceAll(from, to)
      if (changed !== text) missing.delete(from)
      text = changed
    }
    await writeFile(join(folder, name), text)
  }
  if (missing.size > 0) throw new Error(`not in deploy/nginx: ${[...missing].join(' ')}`)
}

async function whenListening(port: number, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + READY_MS_MAX
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.destroy()
    if (isOpen) return
    if (child.exitCode !== null || performance.now() > deadline) {
      throw new Error(`nginx does not listen (it ended with ${child.exitCode})`)
    }
    await sleep(20)
  }
}

/** Finds the edge under its real name, and believes only its certificate. */
function agentOf(ca: string, connections: number): Agent {
  return new Agent({
    connections,
    pipelining: 1,
    connect: {
      ca,
      lookup: (_host, { all }, found) => {
        if (all) found(null, [{ address: '127.0.0.1', family: 4 }])
        else found(null, '127.0.0.1', 4)
      },
    },
  })
}

export type Logged = { readonly client: string; readonly behind: string }

function linesOf(text: string): Logged[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Logged)
}
