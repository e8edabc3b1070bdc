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
  /** Members of the attestation object. */
  readonly attestation?: Readonly<Record<string, Cbor>>
}

type Cbor = number | string | Buffer | readonly Cbor[] | { readonly [member: string]: Cbor }

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

export function createAuthenticator(
  kind: KeyKind = 'es256',
  { publicKey, privateKey }: Pair = createPair(kind),
  credentialId = randomBytes(32),
): Authenticator {
  const id = encode(credentialId)

  return {
    id,
    create(ceremony) {
      const head = writeHead(ceremony, 0x40)
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credentialId.length)
      const cose = writeCose(publicKey)
      const data = Buffer.concat([head, Buffer.alloc(16), length, credentialId, cose])
      return {
        id,
        response: {
          clientDataJSON: encode(writeClientData(ceremony, 'webauthn.create')),
          attestationObject: encode(
            cbor({ fmt: 'none', attStmt: {}, authData: data, ...ceremony.attestation }),
          ),
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

interface Pair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

function createPair(kind: KeyKind): Pair {
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

/** The public key as authenticators state it (RFC 9053, section 7): labels are numbers. */
function writeCose(key: KeyObject): Buffer {
  const { kty, crv, x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' })
  const bytes = (text: string) => Buffer.from(text, 'base64url')
  const head = (one: number, alg: number): [number, Cbor][] => [
    [1, one],
    [3, alg],
  ]
  switch (kty) {
    case 'OKP':
      return cborMap([...head(1, -8), [-1, 6], [-2, bytes(x)]])
    case 'EC':
      return cborMap([
        ...head(2, -7),
        [-1, crv === 'P-256' ? 1 : 2],
        [-2, bytes(x)],
        [-3, bytes(y)],
      ])
    default:
      return cborMap([...head(3, -257), [-1, bytes(n)], [-2, bytes(e)]])
  }
}

/** RFC 8949: the type in three bits, then the number or the length. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value)
  if (typeof value === 'string')
    return Buffer.concat([cborHead(3, value.length), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([cborHead(2, value.length), value])
  if (Array.isArray(value)) return Buffer.concat([cborHead(4, value.length), ...value.map(cbor)])
  return cborMap(Object.entries(value))
}

function cborMap(members: readonly (readonly [Cbor, Cbor])[]): Buffer {
  return Buffer.concat([cborHead(5, members.length), ...members.flat().map(cbor)])
}

function cborHead(type: number, count: number): Buffer {
  if (count < 24) return Buffer.of((type << 5) | count)
  if (count < 256) return Buffer.of((type << 5) | 24, count)
  return Buffer.of((type << 5) | 25, count >> 8, count & 0xff)
}
