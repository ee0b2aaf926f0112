// The files that we ship for deployment agree with the code: versions, ports, names of
// settings and of metrics, and times that must fit each other. Other programs run them:
// the edge by `faults -- edge`, the image by `faults -- package`, the database's cluster by
// `faults -- failover`.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { createFleet } from '../../src/fleet/fleet.ts'
import { loadConfig } from '../../src/platform/config.ts'
import { databaseRoles } from '../../src/platform/db/roles.ts'
import { listSettings } from '../../src/platform/settings.ts'
import { watchAsWorker } from '../../src/watch-modules.ts'
import { watchReencryption } from '../../src/watch-secrets.ts'
import { wire } from '../../src/wiring.ts'
import { anchorsOf, readPage } from '../docs/pages.ts'
import {
  at,
  COMPOSED,
  compose,
  manifest,
  read,
  root,
  type Tree,
  unitFile,
} from '../support/deploy-files.ts'
import { readCopy, readDockerfile, readEnvironment } from '../support/dockerfile.ts'
import { createTestDatabase } from '../support/harness.ts'

const loaded = loadConfig({ env: {} })
assert.ok('config' in loaded)
const { config } = loaded
/** What main.ts gives the ledger to settle, and the gateway what was broken off. */
const SETTLE_SECONDS = 22
const PRE_STOP_SECONDS = 10

test('the image has the pinned Node and an unprivileged user', () => {
  const stages = readDockerfile(read('deploy/docker/Dockerfile'))
  const pinned = read('.node-version').trim()
  const images = stages.map(({ image }) => image).filter((image) => image.startsWith('node:'))
  assert.ok(images.length > 0)
  for (const image of images) assert.match(image, new RegExp(`^node:${pinned}-`))
  const last = stages.at(-1)
  assert.ok(last)
  assert.match(last.image, /^debian:/)
  const words = last.steps.map(({ word }) => word)
  const user = last.steps.findLast(({ word }) => word === 'USER')
  assert.match(user?.rest ?? '', /^[1-9]\d*:[1-9]\d*$/)
  // That user could change files that are copied or created after USER.
  assert.deepEqual(
    words.slice(words.indexOf('USER')).filter((word) => word !== 'USER'),
    [...['EXPOSE', 'HEALTHCHECK', 'STOPSIGNAL', 'ENTRYPOINT', 'CMD']],
  )
  assert.ok(words.includes('VOLUME'))
})

test('every file that the image copies exists and is in the build context', () => {
  const ignored = read('deploy/docker/Dockerfile.dockerignore').split('\n')
  for (const { steps } of readDockerfile(read('deploy/docker/Dockerfile'))) {
    for (const { rest } of steps.filter(({ word }) => word === 'COPY')) {
      const { from, sources } = readCopy(rest)
      if (from !== undefined) continue
      for (const source of sources) {
        assert.ok(existsSync(join(root, source)), source)
        const isSeen = ignored.some((line) => source === line.slice(1) || isBelow(source, line))
        assert.ok(isSeen, `${source} is ignored`)
      }
    }
  }

  function isBelow(source: string, line: string): boolean {
    return line.startsWith('!') && source.startsWith(`${line.slice(1)}/`)
  }
})

test('every setting of a shipped file exists', () => {
  const known = new Set(listSettings().flatMap(({ env }) => [env, `${env}_FILE`]))
  for (const foreign of ['NODE_ENV', 'HOME', 'TOLLGATE_CONFIG']) known.add(foreign)
  const last = readDockerfile(read('deploy/docker/Dockerfile')).at(-1)
  const units = globSync('deploy/systemd/*.service', { cwd: root }).map(read).join('\n')
  const made = [
    ...Object.keys(readEnvironment(last?.steps ?? [])),
    ...Object.values(COMPOSED).flatMap((service) =>
      Object.keys(at(compose, 'services', service, 'environment') as Tree),
    ),
    ...Object.keys(at(manifest('ConfigMap', 'tollgate'), 'data') as Tree),
    ...[...units.matchAll(/^Environment=(.*)$/gm)].flatMap(([, pairs = '']) =>
      pairs.split(' ').map((pair) => pair.split('=')[0] as string),
    ),
  ]
  assert.deepEqual(
    made.filter((name) => !known.has(name)),
    [],
  )
})

test('prices and legal pages are mounted where the settings look for them', () => {
  const settings = at(manifest('ConfigMap', 'tollgate'), 'data') as Record<string, string>
  const inCompose = at(compose, 'services', 'gateway', 'environment') as Record<string, string>
  for (const [role, names] of Object.entries({
    gateway: ['CATALOGUE_FILE'],
    worker: ['CATALOGUE_FILE'],
    cabinet: ['CATALOGUE_FILE', 'BRAND_DOCUMENTS_FILE'],
    console: ['CATALOGUE_FILE'],
  })) {
    const pod = at(manifest('StatefulSet', role), 'spec', 'template', 'spec')
    assert.equal(at(pod, 'volumes', 0, 'configMap', 'name'), 'tollgate-files')
    const folder = at(pod, 'containers', 0, 'volumeMounts', 1, 'mountPath') as string
    const volumes = at(compose, 'services', role, 'volumes') as string[]
    const places = volumes.map((volume) => volume.split(':')[1] ?? '')
    for (const name of names) {
      assert.equal(dirname(settings[name] ?? ''), folder, `Kubernetes: ${role} ${name}`)
      const isMounted = places.some((place) => `${inCompose[name]}/`.startsWith(`${place}/`))
      assert.ok(isMounted, `compose: ${role} ${name}`)
    }
  }
})

test('the worker may write to the places for exported days that the README names', () => {
  const text = read('deploy/README.md')
  const rows = [...text.matchAll(/^\| (systemd|Docker|Kubernetes) \| (.+) \|$/gm)]
  const place = Object.fromEntries(rows.map(([, name, cell]) => [name, cell ?? '']))
  const inUnit = read('deploy/systemd/tollgate-worker.service')
  const state = /^StateDirectory=(.+)$/m.exec(inUnit)?.[1]?.split(' ') ?? []
  assert.ok(state.some((one) => place.systemd?.startsWith(`\`/var/lib/${one}\``)))

  const mount = (at(compose, 'services', 'worker', 'volumes') as string[]).at(-1)?.split(':') ?? []
  assert.ok(place.Docker?.startsWith(`\`${mount[1]}\``))
  assert.ok((mount[0] ?? '') in (compose.volumes as Tree))
  const steps = readDockerfile(read('deploy/docker/Dockerfile')).at(-1)?.steps ?? []
  const made = steps.filter(({ word }) => word === 'RUN').map(({ rest }) => rest)
  // A volume takes its owner from the folder of the image.
  assert.ok(made.some((one) => one.includes(`chown 10001:10001 spool ${basename(mount[1] ?? '')}`)))

  const component = (file: string) => parse(read(`deploy/kubernetes/exports/${file}.yaml`)) as Tree
  assert.equal(component('kustomization').kind, 'Component')
  assert.deepEqual(at(component('volume'), 'spec', 'accessModes'), ['ReadWriteMany'])
  const patches = at(component('kustomization'), 'patches')
  assert.deepEqual(patches, [{ path: 'worker.yaml' }, { path: 'operator.yaml' }])
  for (const program of ['worker', 'operator']) {
    const pod = at(component(program), 'spec', 'template', 'spec')
    const container = at(pod, 'containers', 0)
    assert.equal(at(container, 'name'), program)
    const setting = listSettings().find(({ env }) => env === at(container, 'env', 0, 'name'))
    assert.equal(setting?.env, 'LEDGER_EXPORT_DIRECTORY')
    assert.equal(at(container, 'env', 0, 'value'), at(container, 'volumeMounts', 0, 'mountPath'))
    const claim = at(pod, 'volumes', 0, 'persistentVolumeClaim', 'claimName')
    assert.equal(claim, at(component('volume'), 'metadata', 'name'))
  }
})

test('every stop timeout is longer than the drain of its process', () => {
  const needed = {
    gateway: config.gateway.drainSeconds + SETTLE_SECONDS,
    cabinet: config.cabinet.drainSeconds + SETTLE_SECONDS,
    console: config.console.drainSeconds + SETTLE_SECONDS,
    worker: 2 * SETTLE_SECONDS,
  }
  for (const [role, seconds] of Object.entries(needed)) {
    const pod = at(manifest('StatefulSet', role), 'spec', 'template', 'spec')
    const container = at(pod, 'containers', 0)
    const grace = at(pod, 'terminationGracePeriodSeconds') as number
    assert.ok(grace >= PRE_STOP_SECONDS + seconds, `Kubernetes: ${role} ${grace}`)
    const wait = at(container, 'lifecycle', 'preStop', 'exec', 'command')
    assert.deepEqual(wait, ['sleep', String(PRE_STOP_SECONDS)])
    const stop = at(compose, 'services', role, 'stop_grace_period') as string
    assert.ok(Number.parseInt(stop, 10) >= seconds, `compose: ${role} ${stop}`)
    const unit = read(unitFile(role))
    const limit = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])
    assert.ok(limit >= seconds, `systemd: ${role} ${limit}`)
  }
})

test('the edge and the gateway agree about sizes and times', () => {
  const nginx = globSync('deploy/nginx/**/*.conf', { cwd: root }).map(read).join('\n')
  const api = read('deploy/nginx/tollgate/api.conf')
  const upstreams = read('deploy/nginx/tollgate/upstreams.conf')
  const seconds = (name: string, text: string) =>
    Number(new RegExp(`^\\s*${name} (\\d+)s;`, 'm').exec(text)?.[1])
  assert.equal(config.gateway.bodyBytesMax, 32 * 2 ** 20)
  assert.match(api, /^ {2}client_max_body_size 32m;$/m)
  // The gateway must be the one to end a reply that takes too long.
  const longest = config.ledger.requestSecondsMax
  assert.ok(seconds('proxy_read_timeout', api) > longest)
  assert.ok(seconds('worker_shutdown_timeout', nginx) > longest)
  const keptMs = Number(
    /KEEP_ALIVE_MS = ([\d_]+)/.exec(read('src/gateway/gateway.ts'))?.[1]?.replaceAll('_', ''),
  )
  for (const [, kept] of upstreams.matchAll(/keepalive_timeout (\d+)s/g)) {
    assert.ok(Number(kept) * 1_000 < keptMs, `${kept} s is below ${keptMs} ms`)
  }
  assert.match(upstreams, new RegExp(`127\\.0\\.0\\.1:${config.gateway.port}\\b`))
  assert.match(upstreams, new RegExp(`127\\.0\\.0\\.1:${config.cabinet.port}\\b`))
})

test('the charge logs of all programs that revoke keys outlive their containers', () => {
  for (const name of ['gateway', 'cabinet', 'console', 'worker', 'op']) {
    const volumes = at(compose, 'services', name, 'volumes') as string[]
    assert.ok(
      volumes.some((one) => one.endsWith(':/app/spool')),
      name,
    )
  }
  const [spool] = at(
    manifest('Deployment', 'operator'),
    ...['spec', 'template', 'spec', 'volumes'],
  ) as Tree[]
  assert.equal(at(spool, 'persistentVolumeClaim', 'claimName'), 'operator-spool')
})

test('pods cannot write or gain privileges, and Prometheus asks their metrics port', () => {
  const ports = {
    gateway: config.metrics.port,
    cabinet: config.metrics.cabinetPort,
    console: config.metrics.consolePort,
    worker: config.metrics.workPort,
  }
  for (const [role, metricsPort] of Object.entries(ports)) {
    const pod = at(manifest('StatefulSet', role), 'spec', 'template', 'spec')
    const container = at(pod, 'containers', 0) as Tree
    assert.equal(at(pod, 'securityContext', 'runAsNonRoot'), true)
    assert.equal(at(pod, 'enableServiceLinks'), false)
    assert.equal(at(container, 'securityContext', 'readOnlyRootFilesystem'), true)
    assert.equal(at(container, 'securityContext', 'allowPrivilegeEscalation'), false)
    const named = container.ports as { name: string; containerPort: number }[]
    const metrics = named.find(({ name }) => name === 'metrics')
    assert.equal(metrics?.containerPort, metricsPort)
    assert.equal(at(container, 'readinessProbe', 'httpGet', 'path'), '/readyz')
    assert.equal(at(container, 'livenessProbe', 'httpGet', 'path'), '/healthz')
    assert.ok(manifest('PodDisruptionBudget', role))
  }
  const asked = at(parse(read('deploy/prometheus/prometheus.yml')), 'scrape_configs') as Tree[]
  for (const { job_name, static_configs } of asked.slice(0, 4)) {
    const port = ports[job_name as keyof typeof ports]
    assert.equal(at(static_configs, 0, 'targets', 0), `127.0.0.1:${port}`)
  }
})

test('every resource is listed, and every listed resource exists', () => {
  const files = globSync('deploy/kubernetes/*.yaml', { cwd: root }).map((file) => basename(file))
  const listed = at(parse(read('deploy/kubernetes/kustomization.yaml')), 'resources') as string[]
  assert.deepEqual([...listed, 'kustomization.yaml'].sort(), files.sort())
})

test('alarms, the dashboard and the scaling use only metrics that exist', async () => {
  const names = await metricNames()
  const dashboard = JSON.parse(read('deploy/grafana/tollgate.json')) as Tree
  const expressions = [...strings(dashboard, 'expr'), ...strings(alerts(), 'expr')]
  assert.ok(expressions.length > 30)
  const scaled = at(manifest('HorizontalPodAutoscaler', 'gateway'), 'spec', 'metrics', 0)
  const asked = new Set([
    ...expressions.flatMap((text) => text.match(/\b(?:gateway|gen_ai|payments)_\w+/g) ?? []),
    at(scaled, 'pods', 'metric', 'name') as string,
  ])
  for (const label of ['gen_ai_token_type', 'gen_ai_request_model']) asked.delete(label)
  assert.deepEqual(
    [...asked].filter((name) => !names.has(name.replace(/_(?:bucket|sum|count)$/, ''))),
    [],
  )
})

test('every alarm says how urgent it is, what it means and what to do', () => {
  for (const rule of (at(alerts(), 'groups') as Tree[]).flatMap(({ rules }) => rules as Tree[])) {
    assert.match(String(rule.alert), /^Tollgate[A-Z]/)
    assert.match(String(at(rule, 'labels', 'severity')), /^(?:page|look)$/)
    assert.ok(String(at(rule, 'annotations', 'summary')).length > 10)
    const [file = '', anchor = ''] = String(at(rule, 'annotations', 'runbook')).split('#')
    assert.ok(anchorsOf(readPage(file)).has(anchor), `${rule.alert}: ${file}#${anchor}`)
  }
})

test('the database cluster loses no data with a node', () => {
  const { dcs } = parse(read('deploy/patroni/patroni.yml')).bootstrap as { dcs: Tree }
  assert.equal(dcs.synchronous_mode, 'quorum')
  assert.equal(dcs.failsafe_mode, true)
  assert.equal(at(dcs, 'postgresql', 'parameters', 'fsync'), 'on')
  // A failover: the lock runs out, and then one election.
  const seconds = (dcs.ttl as number) + (dcs.loop_wait as number)
  assert.ok(
    config.ledger.holdWaitMs > seconds * 1_000,
    'requests wait longer than a failover takes',
  )
})

test('Prometheus asks Patroni as patroni.yml serves: over TLS', () => {
  const { restapi } = parse(read('deploy/patroni/patroni.yml')) as { restapi: Tree }
  const asked = at(parse(read('deploy/prometheus/prometheus.yml')), 'scrape_configs') as Tree[]
  const job = asked.find(({ job_name }) => job_name === 'database')
  assert.equal(job?.scheme, 'certfile' in restapi ? 'https' : 'http')
  assert.ok(at(job, 'tls_config', 'ca_file'))
})

test('instances of a unit share its socket, and are named by ports that Prometheus asks', () => {
  const script = read('deploy/systemd/tollgate-restart')
  const asked = at(parse(read('deploy/prometheus/prometheus.yml')), 'scrape_configs') as Tree[]
  for (const [role, port, metricsPort, setting] of [
    ['gateway', config.gateway.port, config.metrics.port, 'METRICS_PORT'],
    ['cabinet', config.cabinet.port, config.metrics.cabinetPort, 'METRICS_CABINET_PORT'],
    ['console', config.console.port, config.metrics.consolePort, 'METRICS_CONSOLE_PORT'],
  ] as const) {
    const socket = read(`deploy/systemd/tollgate-${role}.socket`)
    assert.match(socket, new RegExp(`^ListenStream=127\\.0\\.0\\.1:${port}$`, 'm'))
    assert.match(socket, new RegExp(`^Service=tollgate-${role}@${metricsPort}\\.service$`, 'm'))
    const unit = read(unitFile(role))
    assert.match(unit, new RegExp(`^Sockets=tollgate-${role}\\.socket$`, 'm'))
    assert.match(unit, new RegExp(`^Environment=${setting}=%i$`, 'm'))
    const ports = new RegExp(`${role}\\) ports='([\\d ]+)'`).exec(script)?.[1]?.split(' ') ?? []
    assert.equal(ports[0], String(metricsPort))
    const job = asked.find(({ job_name }) => job_name === role)
    const targets = at(job, 'static_configs', 0, 'targets')
    assert.deepEqual(
      targets,
      ports.map((one) => `127.0.0.1:${one}`),
    )
  }
})

test('a node of the database cluster can start and rejoin', () => {
  const file = parse(read('deploy/patroni/patroni.yml')) as Tree
  const rules = at(file, 'postgresql', 'pg_hba') as string[]
  assert.ok(rules.some((rule) => rule.startsWith('hostssl')))
  // PostgreSQL ignores hostssl lines while ssl is off, and then refuses every program.
  assert.equal(at(file, 'postgresql', 'parameters', 'ssl'), 'on')
  const allowed = rules.flatMap((rule) => rule.split(' ')[2]?.split(',') ?? [])
  for (const user of ['superuser', 'replication', 'rewind']) {
    const name = at(file, 'postgresql', 'authentication', user, 'username') as string
    assert.ok(allowed.includes(name), `pg_hba has a line for ${name}`)
  }
  const script = at(file, 'bootstrap', 'post_bootstrap') as string
  assert.equal(script, '/etc/patroni/roles.sh')
  const made = /^for role in (.*); do$/m.exec(read('deploy/patroni/roles.sh'))?.[1]?.split(' ')
  const roles = ['tollgate_migrate', ...databaseRoles].sort()
  assert.deepEqual(made?.map((name) => `tollgate_${name}`).sort(), roles)
  for (const role of roles) assert.ok(allowed.includes(role), `pg_hba has a line for ${role}`)
  assert.equal(at(file, 'bootstrap', 'dcs', 'postgresql', 'parameters', 'archive_mode'), 'on')
})

test('systemd units are valid', async (t) => {
  const units = globSync('deploy/systemd/*.{service,socket}', { cwd: root }).map((file) =>
    join(root, file),
  )
  assert.equal(units.length, 8)
  const verified = await promisify(execFile)('systemd-analyze', ['verify', ...units]).then(
    ({ stderr }) => stderr,
    (error: { code?: unknown; stderr?: string }) =>
      error.code === 'ENOENT' ? undefined : (error.stderr ?? ''),
  )
  if (verified === undefined) return t.skip('systemd is not here')
  // The program is not installed on the machine that looks.
  const complaints = verified.split('\n').filter((line) => !/is not executable|^$/.test(line))
  assert.deepEqual(complaints, [])
})

function alerts(): unknown {
  return parse(read('deploy/prometheus/alerts.yml'))
}

/** Every string under this name, however deep. */
function strings(tree: unknown, name: string): string[] {
  if (typeof tree !== 'object' || tree === null) return []
  return Object.entries(tree).flatMap(([key, value]) =>
    key === name && typeof value === 'string' ? [value] : strings(value, name),
  )
}

/** Those that a gateway, a cabinet and a worker really have. */
async function metricNames(): Promise<Set<string>> {
  const database = await createTestDatabase()
  const env = { DATABASE_URL: database.url }
  const own = loadConfig({ env })
  assert.ok('config' in own)
  const modules = await wire(own.config, [], 'test')
  try {
    watchAsWorker(modules.metrics, modules, own.config.ledger)
    watchReencryption(modules.metrics, modules.accounts)
    const fleet = createFleet({ count: 1, log: modules.log })
    const text = `${await modules.metrics.registry.metrics()}${await fleet.metricsText()}`
    return new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string))
  } finally {
    await modules.db.end()
    await database.drop()
  }
}
