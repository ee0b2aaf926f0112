// The upstreams of the configuration: those of the file, or the one in the settings, with what
// their connections need from files. Only the gateway calls them, so only it needs their secrets;
// the other programs know their names.
import { readFileSync } from 'node:fs'
import { type Config, secretOf } from './platform/config.ts'
import { isPlainHttp, PLAIN_UPSTREAM } from './platform/production.ts'
import {
  parseUpstreams,
  readConnections,
  referenceProblem,
  type UpstreamOptions,
} from './upstreams/upstreams.ts'

type Read = { readonly upstreams: UpstreamOptions[] } | { readonly problems: readonly string[] }
type Connections = Parameters<typeof readConnections>

export function readUpstreams({ upstream, mode, allow }: Config, isGateway: boolean): Read {
  const { file, url, key, temperatureMax, ...shared } = upstream
  const complete = (...[source, upstreams]: Connections) =>
    readConnections(source, isGateway ? upstreams : upstreams.map(withoutFiles))
  if (file === 'none') {
    const only = { name: 'only', url, keys: [key], models: [], priority: 1, weight: 1 }
    return complete('upstream', [{ ...shared, ...only, temperatureMax }])
  }
  const read = parseUpstreams(readFileSync(file, 'utf8'))
  if ('problems' in read) return { problems: read.problems.map((one) => `${file}: ${one}`) }
  const unusable = read.upstreams.flatMap(({ keys, proxyLogin }) => [
    ...keys.flatMap((key) => referenceProblem(key) ?? []),
    ...(proxyLogin && !secretOf(proxyLogin) ? [`${proxyLogin} is empty or absent`] : []),
  ])
  const mustBeSafe = mode === 'production' && !allow.plainUpstreams
  const plain = mustBeSafe ? read.upstreams.filter((one) => isPlainHttp(one.url)) : []
  const problems = [
    ...(isGateway ? unusable : []).map((one) => `${file}: ${one}`),
    ...plain.map((one) => `${file}: ${one.name} ${PLAIN_UPSTREAM}`),
  ]
  if (problems.length > 0) return { problems }
  return complete(
    file,
    read.upstreams.map(({ proxyLogin, ...one }) => ({
      ...shared,
      // A login belongs to its proxy: an upstream with another proxy does not send it there.
      ...(one.proxy === undefined ? {} : { proxyLogin: undefined }),
      ...(proxyLogin === undefined ? {} : { proxyLogin: secretOf(proxyLogin) }),
      ...one,
      http2: one.http2 ?? shared.http2,
      connectionMaxAgeMs: one.connectionMaxAgeMs ?? shared.connectionMaxAgeMs,
    })),
  )
}

function withoutFiles(one: Connections[1][number]): Connections[1][number] {
  return { ...one, ca: 'none', clientCertificate: 'none', clientKey: 'none' }
}
