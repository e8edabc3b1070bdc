/**
 * A passkey in software, written from the standard's layout of authenticator data (W3C Web
 * Authentication, section 6.1) and not from the code under test. Each of its statements can be
 * made to lie.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface Ceremony {
  readonly challenge: string
  readonly origin: string
  readonly domain: string
  /** Type of the ceremony as the browser states it. */
  readonly type?: string
  readonly crossOrigin?: boolean
  /** 0x01 present, 0x04 verified. */
  readonly flags?: number
  readonly count?: number
}

export type KeyKind = 'es256' | 'ed25519' | 'rs256' | 'p384' | 'rsa1024'

export interface Authenticator {
  readonly id: string
  create(ceremony: Ceremony): { id: string; response: Record<string, string | string[]> }
  sign(ceremony: Ceremony & { readonly userHandle?: string | undefined }): {
    id: string
    response: Record<string, string>
  }
}

const encode = (bytes: Buffer) => bytes.toString('base64url')
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest()

export function createAuthenticator(kind: KeyKind = 'es256'): Authenticator {
  const { publicKey, privateKey } = createPair(kind)
  const credentialId = randomBytes(32)
  const id = encode(credentialId)

  return {
    id,
    create(ceremony) {
      const head = writeHead(ceremony, 0x40)
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credentialId.length)
      const cose = Buffer.from('a0', 'hex')
      const data = Buffer.concat([head, Buffer.alloc(16), length, credentialId, cose])
      return {
        id,
        response: {
          clientDataJSON: encode(writeClientData(ceremony, 'webauthn.create')),
          authenticatorData: encode(data),
          publicKey: encode(publicKey.export({ type: 'spki', format: 'der' })),
          transports: ['internal'],
        },
      }
    },
    sign({ userHandle, ...ceremony }) {
      const clientData = writeClientData(ceremony, 'webauthn.get')
      const data = writeHead(ceremony, 0)
      const digest = kind === 'ed25519' ? null : 'sha256'
      const signature = sign(digest, Buffer.concat([data, sha256(clientData)]), privateKey)
      return {
        id,
        response: {
          clientDataJSON: encode(clientData),
          authenticatorData: encode(data),
          signature: encode(signature),
          ...(userHandle === undefined ? {} : { userHandle }),
        },
      }
    },
  }
}

function createPair(kind: KeyKind): { publicKey: KeyObject; privateKey: KeyObject } {
  switch (kind) {
    case 'es256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    case 'p384':
      return generateKeyPairSync('ec', { namedCurve: 'P-384' })
    case 'ed25519':
      return generateKeyPairSync('ed25519')
    case 'rs256':
      return generateKeyPairSync('rsa', { modulusLength: 2048 })
    case 'rsa1024':
      return generateKeyPairSync('rsa', { modulusLength: 1024 })
  }
}

function writeClientData(ceremony: Ceremony, type: string): Buffer {
  const { challenge, origin, crossOrigin = false } = ceremony
  return Buffer.from(
    JSON.stringify({ type: ceremony.type ?? type, challenge, origin, crossOrigin }),
  )
}

function writeHead({ domain, flags = 0x05, count = 0 }: Ceremony, more: number): Buffer {
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(count)
  return Buffer.concat([sha256(domain), Buffer.of(flags | more), counter])
}
