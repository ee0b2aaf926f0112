// Lists of addresses and networks, such as the proxies whose word we take: 10.0.0.0/8, ::1. An IPv4
// address that arrives in IPv6 clothes (::ffff:10.0.0.1) is the IPv4 address.
import { BlockList, isIP, isIPv4 } from 'node:net'

export type Networks = { has(address: string): boolean }

/** The networks of a comma-separated list, none for `none`; or what is wrong with it. */
export function readNetworks(text: string): Networks | { readonly complaint: string } {
  const list = new BlockList()
  const parts = text === 'none' ? [] : text.split(',').map((part) => part.trim())
  for (const part of parts) {
    const [address = '', bits, ...rest] = part.split('/')
    const version = isIP(address)
    const bitsMax = version === 4 ? 32 : 128
    const isRight =
      version !== 0 && rest.length === 0 && (bits === undefined || isBits(bits, bitsMax))
    if (!isRight) return { complaint: 'expected addresses and networks, such as 10.0.0.0/8, ::1' }
    list.addSubnet(address, Number(bits ?? bitsMax), version === 4 ? 'ipv4' : 'ipv6')
  }
  return {
    has(address) {
      const plain = plainAddress(address)
      const version = isIP(plain)
      return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6')
    },
  }
}

/** True for this machine's own names, as URL spells a host: an IPv6 address may have brackets. */
export function isLoopback(host: string): boolean {
  // 127.999.0.1 is no address but a name, which a resolver may send anywhere.
  if (isIPv4(host)) return host.startsWith('127.')
  return /^(?:localhost|::1|\[::1\])$/i.test(host)
}

function isBits(text: string, max: number): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) <= max
}

/** An address in one spelling: two spellings of one client would be counted as two clients. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}
