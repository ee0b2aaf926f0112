// What production refuses, each with its sentence: defaults that are only good for a laptop, play
// money, lines that anybody on the way can read. A flag of `allow` lets pass what may be meant. The
// catalogue of an empty shop is looked at by main.ts, which has the database.

import { readSmtpUrl } from './mail/smtp-url.ts'
import { Masked } from './masked.ts'
import { isLoopback } from './networks.ts'
import type { Path } from './yaml.ts'

/** The bank's stand-in, as it starts by itself. */
export const STAND_IN = { url: 'http://127.0.0.1:8790/v3', secretKey: 'test_stand-in-secret' }

export const PLAIN_UPSTREAM =
  'is http:// beyond the loopback, which production refuses; use https://, or set ' +
  'allow.plainUpstreams'

type Complain = (path: Path, message: string) => void

type Found = {
  readonly path: Path
  readonly value: unknown
  readonly fallback: unknown
  readonly isDevelopmentOnly?: boolean
  readonly refusal?: { readonly sentence: string; readonly flag: string }
  readonly bytesMin?: number
}

type Checked = {
  readonly allow: Readonly<Record<string, boolean>>
  readonly brand: { readonly cabinetUrl: string }
  readonly gateway: { readonly publicUrl: string }
  readonly mail: { readonly smtpUrl: Masked<string> }
  readonly payments: { readonly money: string }
  readonly upstream: { readonly file: string; readonly url: string }
  readonly yookassa: { readonly url: string; readonly secretKey: Masked<string> }
}

export function refuseInProduction(
  config: Checked,
  settings: readonly Found[],
  complain: Complain,
): void {
  // A file of upstreams has its own addresses and credentials: nobody reads the single ones.
  const isRead = ({ path }: Found) => path[0] !== 'upstream' || config.upstream.file === 'none'
  refuseDevelopment(config, settings.filter(isRead), complain)
  refuseUnsafeMoney(config, complain)
  refusePlainLines(config, complain)
}

function refuseDevelopment(
  { allow }: Checked,
  settings: readonly Found[],
  complain: Complain,
): void {
  for (const { path, fallback, isDevelopmentOnly, refusal, bytesMin = 0, ...found } of settings) {
    const value = found.value instanceof Masked ? found.value.reveal() : found.value
    if (isDevelopmentOnly && value === fallback) {
      const { sentence = 'is the development default', flag } = refusal ?? {}
      if (flag !== undefined && allow[flag]) continue
      const or = flag === undefined ? '' : `, or set allow.${flag}`
      complain(path, `${sentence}, which production refuses; set your own${or}`)
    } else if (typeof value === 'string' && Buffer.byteLength(value) < bytesMin) {
      complain(path, `is shorter than ${bytesMin} bytes, which production refuses`)
    }
  }
}

/** Money over a bare line, or a shop that takes play money for real credits. */
function refuseUnsafeMoney({ payments, yookassa }: Checked, complain: Complain): void {
  const { url, secretKey } = yookassa
  // The development defaults were complained of already.
  if (!url.startsWith('https://') && url !== STAND_IN.url) {
    complain(['yookassa', 'url'], 'is not https://…, which production refuses')
  }
  const isTestShop = secretKey.reveal().startsWith('test_')
  if (isTestShop && payments.money !== 'test' && secretKey.reveal() !== STAND_IN.secretKey) {
    complain(
      ['yookassa', 'secretKey'],
      'is a test shop’s: its payments would never be credited; or set payments.money to test',
    )
  }
}

/** Cookies, keys, prompts, letters and passwords that anybody on the way could read. */
function refusePlainLines(config: Checked, complain: Complain): void {
  const { allow, brand, gateway, mail, upstream } = config
  // No flag of `allow` for these two: where a CDN ends TLS, customers still type https://.
  if (isPlainHttp(brand.cabinetUrl)) {
    complain(['brand', 'cabinetUrl'], 'must be https: session cookies are bound to it')
  }
  if (isPlainHttp(gateway.publicUrl)) {
    complain(['gateway', 'publicUrl'], 'must be https: customers send their keys there')
  }
  if (upstream.file === 'none' && isPlainHttp(upstream.url) && !allow.plainUpstreams) {
    complain(['upstream', 'url'], PLAIN_UPSTREAM)
  }
  const relay = readSmtpUrl(mail.smtpUrl.reveal())
  // A wrong address was complained of already.
  if ('complaint' in relay || relay.secure || relay.requireTLS || allow.plainMail) return
  if (!isLoopback(relay.host)) {
    complain(
      ['mail', 'smtpUrl'],
      'lets letters leave without TLS beyond the loopback, which production refuses; ' +
        'leave ?starttls out, or set allow.plainMail',
    )
  }
}

/** True for an address without TLS on another machine. */
export function isPlainHttp(url: string): boolean {
  return url.startsWith('http://') && !isLoopback(URL.parse(url)?.hostname ?? '')
}
