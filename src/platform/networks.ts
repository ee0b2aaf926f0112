// Lists of IP addresses and networks, such as trusted proxies: 10.0.0.0/8, ::1. An IPv4-mapped IPv6
// address (::ffff:10.0.0.1) counts as the IPv4 address.
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

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

/**
 * Identifies a sender: an IPv4 address, or the /64 of an IPv6 address, because a customer of an
 * internet provider usually gets a whole /64. IPv4 written as IPv6 counts as IPv4.
 */
export function networkOf(address: string): string {
  const bare = address.split('%', 1)[0] ?? ''
  if (isIPv4(bare)) return bare
  // Not an address (a local socket): one count for each text, cut to bound its memory.
  if (!isIPv6(bare)) return bare.slice(0, 64)
  const groups = groupsOf(bare)
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6)
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/**
 * The network of a household, an office or a rented server: the /24 of an IPv4 address, the /48 of
 * an IPv6 address. Hosting companies give away whole /64 and /48 networks, and rent single
 * addresses of one /24 by the hour, so a count for each address would bound nobody.
 */
export function siteOf(address: string): string {
  const network = networkOf(address)
  if (isIPv4(network)) return `${network.split('.').slice(0, 3).join('.')}.0/24`
  const [prefix, end] = network.split('::')
  if (end !== '/64' || prefix === undefined) return network
  return `${prefix.split(':').slice(0, 3).join(':')}::/48`
}

/** The eight groups of an IPv6 address, which may leave zeros out and end in dotted IPv4. */
function groupsOf(address: string): number[] {
  const [head = '', tail = ''] = address.split('::').map((side) =>
    side.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
      const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number)
      return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
    }),
  )
  const numbers = (side: string) =>
    side === '' ? [] : side.split(':').map((group) => Number.parseInt(group, 16))
  const [left, right] = [numbers(head), numbers(tail)]
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}
