// What carries requests to one upstream: our own client for direct HTTP/1.1 connections
// (direct-carrier.ts), or undici for proxies and HTTP/2 (undici-carrier.ts).
// transport.ts decides who may send, and what a failure means.
import type { Masked } from '../../platform/masked.ts'
import type { Call, ReplySink } from '../port.ts'

/** How connections to an upstream are made and how long they are used. */
export type ConnectionOptions = {
  /** `http://…`, `https://…` or `socks5://…`, without login; undefined: direct connections. */
  readonly proxy?: string | undefined
  /** `user:password` at the proxy. */
  readonly proxyLogin?: Masked<string> | undefined
  /** Certificates in PEM that are trusted instead of those that Node brings. */
  readonly ca?: string | undefined
  /** Our certificate and its key in PEM, for an upstream that asks for one. */
  readonly clientCertificate?: string | undefined
  readonly clientKey?: Masked<string> | undefined
  readonly http2: boolean
  /** For each of: reaching the proxy, its answer, reaching the upstream, TLS. */
  readonly connectTimeoutMs: number
  /** Longest silence within a reply. */
  readonly idleTimeoutMs: number
  /** An idle connection is closed after this time, or earlier if the upstream announces less. */
  readonly keepAliveMs: number
  /**
   * An older connection takes no further request: a new one asks DNS again, and finds servers that
   * were added behind a load balancer.
   */
  readonly connectionMaxAgeMs: number
}

export type OutgoingRequest = {
  /** Path and query at the upstream. */
  readonly path: string
  /** Flat list of names and values, with our credential, without host and content-length. */
  readonly headers: readonly string[]
  readonly body: readonly Buffer[]
  readonly bodyBytes: number
  readonly headersTimeoutMs: number
  /** The request failed before: our own client opens a new connection, undici takes another. */
  readonly isRepeated: boolean
}

export type CarrierListener = ReplySink & {
  /**
   * The last byte of the body was handed to a connected socket: from now on the upstream may have
   * accepted the request. Not called when the upstream answers before that.
   */
  sent(): void
}

export type CarrierCall = Omit<Call, 'isSent'>

export type Carrier = {
  send(request: OutgoingRequest, listener: CarrierListener): CarrierCall
  /** Fails all requests under way. */
  close(): void
}

/** An announced limit (`keep-alive: timeout=5`) is shortened by this: latency and our timer's. */
export const KEEP_ALIVE_MARGIN_MS = 1_500
/** The vendor's heads are under 4 KiB. */
export const HEAD_BYTES_MAX = 65_536
/** Up to this size, copying the parts of a body into one buffer is cheaper than two writes. */
export const JOIN_BYTES_MAX = 16_384
/** A single write of 32 MiB can delay ten thousand streams by 20 ms, one of this size by 0.1 ms. */
export const PIECE_BYTES = 262_144
