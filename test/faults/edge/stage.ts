// Starts the real nginx with the files of deploy/nginx in front of a gateway.
// Only the ports, the folders, the certificate and the CDN's address are replaced.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Agent } from 'undici'
import { ensureProgram } from '../../../bench/relay-tools.ts'
import { freePorts } from '../../../tools/free-port.ts'
import { sleep } from '../../support/drill.ts'

const run = promisify(execFile)
const shipped = join(import.meta.dirname, '../../../deploy/nginx')
const READY_MS_MAX = 10_000

/** The hosts that the shipped files name. */
export const API_HOST = 'api.example.com'
export const CABINET_HOST = 'cabinet.example.com'

/** The loopback address that the edge trusts as the CDN's. */
export const CDN = '127.0.0.3'

export type Edge = Awaited<ReturnType<typeof startEdge>>

/** Starts nginx in front of these ports. Without a cabinet's port none listens behind it. */
export async function startEdge(gatewayPorts: readonly number[], cabinet?: number) {
  const nginx = await ensureProgram('nginx', ['nginx-light'])
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-edge-'))
  try {
    // If root starts nginx, its workers run as another user, who must be able to open the folder.
    await chmod(folder, 0o755)
    const [port = 0, plainPort = 0, unused = 0] = await freePorts(3)
    const cabinetPort = cabinet ?? unused
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
      [
        /^ *server 127\.0\.0\.1:8080\b(.*)$/gm,
        gatewayPorts.map((one) => `server 127.0.0.1:${one}$1`).join('\n'),
      ],
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
    /** The base URL for API clients; `agent` connects to this nginx under that name. */
    url: `https://${API_HOST}:${port}`,
    agent: (connections: number) => agentOf(certificate, connections),
    /** The lines of the access log: one for each request answered so far. */
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

/** Writes the changed files. Throws if a change matches nothing: deploy/nginx was rewritten. */
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

/** Resolves every host name to 127.0.0.1, and trusts only the edge's certificate. */
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

export type Logged = {
  readonly client: string
  /** The gateways that it was sent to, and their statuses; empty for none. */
  readonly behind: string
  readonly answered: string
}

function linesOf(text: string): Logged[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Logged)
}
