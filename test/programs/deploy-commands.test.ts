// The commands in the documents for operators name units and workloads that we ship: a unit that
// was renamed stays in a runbook until somebody needs it at night.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import { at, compose, manifest, read, root } from '../support/deploy-files.ts'

const DOCUMENTS = [
  ...['deploy/README.md', 'docs/operating.md', 'docs/operator-commands.md', 'docs/runbooks.md'],
  ...['docs/payments.md', 'docs/security.md'],
]

/** The words of every such command: up to the end of the code, or the next command. */
function commandsOf(start: string): string[][] {
  return DOCUMENTS.flatMap((file) =>
    [...read(file).matchAll(new RegExp(`\\b${start} ([^\`|&;:\\n]+)`, 'g'))].map(([, rest = '']) =>
      rest.replaceAll("'", '').trim().split(/\s+/),
    ),
  )
}

test('systemctl is asked for units that we ship', () => {
  const shipped = globSync('deploy/{systemd,pgbackrest}/*.{service,socket,timer}', { cwd: root })
  const units = new Set(shipped.map((file) => basename(file)))
  // The upgrade disables units of versions before there were instances.
  const asked = commandsOf('systemctl').filter(([verb]) => verb !== 'disable')
  assert.ok(asked.length > 10)
  for (const unit of asked.flat().filter((word) => word.startsWith('tollgate-'))) {
    const name = unit.replace(/@[\d*]+$/, '@')
    const file = /\.\w+$/.test(name) ? name : `${name}.service`
    assert.ok(units.has(file), `systemctl … ${unit}`)
  }
})

test('kubectl is asked for workloads that we ship', () => {
  const kinds = { statefulset: 'StatefulSet', deployment: 'Deployment', job: 'Job' } as const
  const asked = commandsOf('kubectl').flatMap((words) => {
    const [kind = '', ...names] = words.filter((word) => !word.startsWith('-')).slice(2)
    const plain = kind in kinds ? names.map((name) => `${kind}/${name}`) : []
    return [...plain, ...words].filter((word) => /^(?:statefulset|deployment|job)\/\D+$/.test(word))
  })
  assert.ok(asked.length >= 3)
  for (const one of asked) {
    const [kind = '', name = ''] = one.split('/')
    assert.ok(manifest(kinds[kind as keyof typeof kinds], name))
  }
})

test('every program that writes a charge log keeps it in a volume', () => {
  for (const role of ['gateway', 'cabinet', 'worker', 'op']) {
    const volumes = at(compose, 'services', role, 'volumes') as string[]
    assert.ok(volumes.includes(`spool-${role}:/app/spool`), role)
    assert.ok(at(compose, 'volumes', `spool-${role}`), role)
  }
  // No unit makes the directory of `op`.
  const directory = /SPOOL_DIRECTORY=(\S+)/.exec(read('deploy/systemd/tollgate-op'))?.[1]
  assert.match(read('deploy/README.md'), new RegExp(`install -d -o tollgate-op .* ${directory}\\b`))
})
