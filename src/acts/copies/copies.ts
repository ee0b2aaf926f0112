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
      return openFileCopy(address.path)
    case 'syslog':
      return openSyslogCopy(address)
    case 'http':
      return openHttpCopy(address.url, secret)
  }
}
