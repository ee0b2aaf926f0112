// The checks of production mode, each with its message: development defaults, test money,
// unencrypted connections. A flag of `allow` turns single checks off. main.ts checks the catalogue
// of an empty database.

import { readSmtpUrl } from './mail/smtp-url.ts'
import { Masked } from './masked.ts'
import { isLoopback } from './networks.ts'
import { secretVersionsOf } from './secret-versions.ts'
import { earlierShopsOf } from './shops.ts'
import type { KeyPath } from './yaml.ts'

/** The defaults of the stand-in bank. */
export const STAND_IN = { url: 'http://127.0.0.1:8790/v3', secretKey: 'test_stand-in-secret' }

export const PLAIN_UPSTREAM =
  'is http:// beyond the loopback, which production refuses; use https://, or set ' +
  'allow.plainUpstreams'

type ReportProblem = (path: KeyPath, message: string) => void

type SettingValue = {
  readonly path: KeyPath
  readonly value: unknown
  readonly fallback: unknown
  readonly isDevelopmentOnly?: boolean
  readonly refusal?: { readonly sentence: string; readonly flag: string }
  readonly bytesMin?: number
  readonly hasVersions?: boolean
}

type CheckedConfig = {
  readonly allow: Readonly<Record<string, boolean>>
  readonly brand: { readonly cabinetUrl: string }
  readonly gateway: { readonly publicUrl: string }
  readonly mail: { readonly smtpUrl: Masked<string> }
  readonly operators: { readonly consoleUrl: string; readonly oidcIssuer: string }
  readonly payments: { readonly money: string }
  readonly upstream: { readonly file: string; readonly url: string }
  readonly vendorBill: { readonly url: string }
  readonly yookassa: {
    readonly url: string
    readonly secretKey: Masked<string>
    readonly earlierShops: Masked<string>
  }
}

export function refuseInProduction(
  config: CheckedConfig,
  settings: readonly SettingValue[],
  reportProblem: ReportProblem,
): void {
  // With a file of upstreams, the settings of the single upstream are not used.
  const isRead = ({ path }: SettingValue) =>
    path[0] !== 'upstream' || config.upstream.file === 'none'
  // `settings` has those that the program reads.
  const names = settings.map(({ path }) => path.join('.'))
  refuseDevelopment(config, settings.filter(isRead), reportProblem)
  refusePlainLines(config, reportProblem)
  if (names.includes('yookassa.secretKey')) refuseUnsafeMoney(config, reportProblem)
  if (names.includes('mail.smtpUrl')) refusePlainMail(config, reportProblem)
}

function refuseDevelopment(
  { allow }: CheckedConfig,
  settings: readonly SettingValue[],
  reportProblem: ReportProblem,
): void {
  for (const setting of settings) {
    const { path, fallback, isDevelopmentOnly, refusal, bytesMin = 0 } = setting
    const values = plainValuesOf(setting)
    if (isDevelopmentOnly && values.includes(fallback)) {
      const { sentence = 'is the development default', flag } = refusal ?? {}
      if (flag !== undefined && allow[flag]) continue
      const or = flag === undefined ? '' : `, or set allow.${flag}`
      reportProblem(path, `${sentence}, which production refuses; set your own${or}`)
    } else if (values.some((one) => typeof one === 'string' && Buffer.byteLength(one) < bytesMin)) {
      reportProblem(path, `is shorter than ${bytesMin} bytes, which production refuses`)
    }
  }
}

/** Of a secret with a successor, both. */
function plainValuesOf({ value, hasVersions }: SettingValue): unknown[] {
  if (!(value instanceof Masked)) return [value]
  const masked = value as Masked<string>
  return hasVersions
    ? secretVersionsOf(masked).map(({ secret }) => secret.reveal())
    : [masked.reveal()]
}

/** Payments without TLS, or a shop that takes test money for real credits. */
function refuseUnsafeMoney(
  { payments, yookassa }: CheckedConfig,
  reportProblem: ReportProblem,
): void {
  const { url, secretKey } = yookassa
  // refuseDevelopment has reported the development defaults.
  if (!url.startsWith('https://') && url !== STAND_IN.url) {
    reportProblem(['yookassa', 'url'], 'is not https://…, which production refuses')
  }
  const isTestKey = (key: Masked<string>) => key.reveal().startsWith('test_')
  const isTestEarlier = earlierShopsOf(yookassa.earlierShops).some((one) =>
    isTestKey(one.secretKey),
  )
  if (isTestEarlier && payments.money !== 'test') {
    reportProblem(['yookassa', 'earlierShops'], 'has a test shop’s key: set payments.money to test')
  }
  const isTestShop = isTestKey(secretKey)
  if (isTestShop && payments.money !== 'test' && secretKey.reveal() !== STAND_IN.secretKey) {
    reportProblem(
      ['yookassa', 'secretKey'],
      'is a test shop’s: its payments would never be credited; or set payments.money to test',
    )
  }
}

/** Cookies, keys and prompts without TLS. */
function refusePlainLines(config: CheckedConfig, reportProblem: ReportProblem): void {
  const { allow, brand, gateway, operators, upstream, vendorBill } = config
  // No flag of `allow` for these: even where a CDN terminates TLS, the public URL is https://.
  if (isPlainHttp(brand.cabinetUrl)) {
    reportProblem(['brand', 'cabinetUrl'], 'must be https: session cookies are bound to it')
  }
  if (isPlainHttp(operators.consoleUrl)) {
    reportProblem(['operators', 'consoleUrl'], 'must be https: operators’ cookies are bound to it')
  }
  if (isPlainHttp(operators.oidcIssuer)) {
    reportProblem(['operators', 'oidcIssuer'], 'must be https: it says who the operators are')
  }
  if (isPlainHttp(gateway.publicUrl)) {
    reportProblem(['gateway', 'publicUrl'], 'must be https: customers send their keys there')
  }
  if (upstream.file === 'none' && isPlainHttp(upstream.url) && !allow.plainUpstreams) {
    reportProblem(['upstream', 'url'], PLAIN_UPSTREAM)
  }
  // Its key reads the bills of the whole account.
  if (isPlainHttp(vendorBill.url) && !allow.plainUpstreams) {
    reportProblem(['vendorBill', 'url'], PLAIN_UPSTREAM)
  }
}

/** E-mails and the relay's password without TLS. */
function refusePlainMail({ allow, mail }: CheckedConfig, reportProblem: ReportProblem): void {
  const server = readSmtpUrl(mail.smtpUrl.reveal())
  // The schema has reported a wrong URL.
  if ('problem' in server || server.secure || server.requireTLS || allow.plainMail) return
  if (!isLoopback(server.host)) {
    reportProblem(
      ['mail', 'smtpUrl'],
      'lets e-mails leave without TLS beyond the loopback, which production refuses; ' +
        'leave ?starttls out, or set allow.plainMail',
    )
  }
}

/** True for a URL without TLS on another machine. */
export function isPlainHttp(url: string): boolean {
  return url.startsWith('http://') && !isLoopback(URL.parse(url)?.hostname ?? '')
}
