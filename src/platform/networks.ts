// Lists of IP addresses and networks, such as trusted proxies: 10.0.0.0/8, ::1. An IPv4-mapped IPv6
// address (::ffff:10.0.0.1) counts as the IPv4 address.
import { BlockList, isIP, isIPv4 } from 'node:net'

export type Networks = { has(address: string): boolean }

/** Parses a comma-separated list, empty for `none`; or returns what is wrong with it. */
export function readNetworks(text: string): Networks | { readonly problem: string } {
  const list = new BlockList()
  const parts = text === 'none' ? [] : text.split(',').map((part) => part.trim())
  for (const part of parts) {
    const [address = '', bits, ...rest] = part.split('/')
    const version = isIP(address)
    const bitsMax = version === 4 ? 32 : 128
    const isRight =
      version !== 0 && rest.length === 0 && (bits === undefined || isBits(bits, bitsMax))
    if (!isRight) return { problem: 'expected addresses and networks, such as 10.0.0.0/8, ::1' }
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

/** True for names of this machine, as URL writes a host: an IPv6 address may have brackets. */
export function isLoopback(host: string): boolean {
  // 127.999.0.1 is not an address but a name, which may resolve to any host.
  if (isIPv4(host)) return host.startsWith('127.')
  return /^(?:localhost|::1|\[::1\])$/i.test(host)
}

function isBits(text: string, max: number): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) <= max
}

/** Normalises an address: two notations of one address would count as two clients. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}
