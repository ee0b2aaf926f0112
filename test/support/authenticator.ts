// A passkey in software: creates and uses a key pair as a phone does, and encodes only the CBOR
// forms that this needs. The test decides whether it verifies its owner.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

type Options = { readonly challenge: string; readonly rpId?: string; readonly rp?: { id: string } }

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const HAS_KEY = 0x40

export function createAuthenticator(origin: string, { isOwnerVerified = true } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(16)
  const state = { counter: 0, isOwnerVerified }

  function authData(rpId: string, flags: number, extra: Buffer = Buffer.alloc(0)): Buffer {
    state.counter += 1
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(state.counter)
    const verified = state.isOwnerVerified ? USER_VERIFIED : 0
    const flag = Buffer.from([flags | USER_PRESENT | verified])
    return Buffer.concat([sha256(rpId), flag, counter, extra])
  }

  function clientData(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  }

  const credential = { id: id.toString('base64url'), rawId: id.toString('base64url') }
  const common = { ...credential, type: 'public-key', clientExtensionResults: {} }

  return {
    state,
    /** The response to generate-register-options. */
    register(options: Options) {
      const client = clientData('webauthn.create', options.challenge)
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      // COSE: key type EC2, ES256, P-256, x, y.
      const key = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ])
      const data = authData(
        options.rp?.id ?? '',
        HAS_KEY,
        Buffer.concat([Buffer.alloc(16), length, id, key]),
      )
      // {fmt: "none", attStmt: {}, authData: bytes}
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
        Buffer.from([data.length >> 8, data.length & 255]),
        data,
      ])
      return {
        ...common,
        response: {
          clientDataJSON: client.toString('base64url'),
          attestationObject: attestation.toString('base64url'),
          transports: ['internal'],
        },
      }
    },

    /** The response to generate-authenticate-options. */
    authenticate(options: Options) {
      const client = clientData('webauthn.get', options.challenge)
      const data = authData(options.rpId ?? '', 0)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return {
        ...common,
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
        },
      }
    },
  }
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}
