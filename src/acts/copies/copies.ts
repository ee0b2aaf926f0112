// The copy of the acts that is configured.
import type { CopyAddress } from '../../platform/copy-address.ts'
import type { Masked } from '../../platform/masked.ts'
import { openFileCopy } from './file.ts'
import { openHttpCopy } from './http.ts'
import type { Copy } from './port.ts'
import { openSyslogCopy } from './syslog.ts'

/** Undefined if acts are not shipped. */
export function openCopy(address: CopyAddress, secret: Masked<string>): Copy | undefined {
  switch (address.kind) {
    case 'none':
      return undefined
    case 'file':
      return limited(openFileCopy(address.path))
    case 'syslog':
      return openSyslogCopy(address)
    case 'http':
      return openHttpCopy(address.url, secret)
  }
}

/** A file on a dead mount never answers; the others have limits of their own. */
const FILE_MS_MAX = 10_000

function limited(copy: Copy): Copy {
  const within = async <T>(work: Promise<T>): Promise<T> => {
    const { promise, reject } = Promise.withResolvers<never>()
    const fail = () => reject(new Error('the file of the acts does not answer'))
    const timer = setTimeout(fail, FILE_MS_MAX)
    return Promise.race([work, promise]).finally(() => clearTimeout(timer))
  }
  return { last: () => within(copy.last()), append: (lines) => within(copy.append(lines)) }
}
