// A private certificate authority for tests, with a certificate for localhost and one for a client.
// Made by openssl, because Node cannot sign certificates.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

export type Pair = { readonly cert: string; readonly key: string }

export async function createCertificates() {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-certificates-'))
  const file = (name: string) => join(folder, name)
  const pairOf = async (name: string): Promise<Pair> => ({
    cert: await readFile(file(`${name}.pem`), 'utf8'),
    key: await readFile(file(`${name}.key`), 'utf8'),
  })
  const openssl = (...parameters: string[]) => run('openssl', parameters)
  await openssl(
    ...['req', '-x509', ...NEW_KEY, '-days', '2', '-subj', '/CN=test authority'],
    ...['-keyout', file('ca.key'), '-out', file('ca.pem')],
  )
  const issue = async (name: string, subject: string, more: string): Promise<Pair> => {
    await writeFile(file(`${name}.ext`), more)
    await openssl(
      ...['req', ...NEW_KEY, '-subj', `/CN=${subject}`],
      ...['-keyout', file(`${name}.key`), '-out', file(`${name}.csr`)],
    )
    await openssl(
      ...[
        'x509',
        '-req',
        '-days',
        '2',
        '-in',
        file(`${name}.csr`),
        '-extfile',
        file(`${name}.ext`),
      ],
      ...['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-out', file(`${name}.pem`)],
    )
    return pairOf(name)
  }
  const server = await issue('server', 'localhost', 'subjectAltName=DNS:localhost,IP:127.0.0.1')
  const client = await issue('client', 'gateway', 'extendedKeyUsage=clientAuth')
  return {
    file,
    ca: (await pairOf('ca')).cert,
    server,
    client,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

export type Certificates = Awaited<ReturnType<typeof createCertificates>>
