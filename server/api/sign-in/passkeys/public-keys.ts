/**
 * Public keys of passkeys are stored as SubjectPublicKeyInfo, which every version of the gateway
 * reads; authenticators state them as COSE keys (RFC 9053). Node converts both from and to JWK.
 */
import { createPublicKey } from 'node:crypto'

interface KeyForm {
  /** Labels and values that every COSE key of this form has. */
  readonly head: ReadonlyMap<number, number>
  readonly jwk: { readonly kty: string; readonly crv?: string }
  /** Labels of the COSE key's bytes, by member of the JWK. */
  readonly members: Readonly<Record<string, number>>
}

const KTY = 1
const ALG = 3
const CRV = -1
const RSA_BYTES_MIN = 256

const ED25519: KeyForm = {
  head: new Map([
    [KTY, 1],
    [ALG, -8],
    [CRV, 6],
  ]),
  jwk: { kty: 'OKP', crv: 'Ed25519' },
  members: { x: -2 },
}
const ES256: KeyForm = {
  head: new Map([
    [KTY, 2],
    [ALG, -7],
    [CRV, 1],
  ]),
  jwk: { kty: 'EC', crv: 'P-256' },
  members: { x: -2, y: -3 },
}
const RS256: KeyForm = {
  head: new Map([
    [KTY, 3],
    [ALG, -257],
  ]),
  jwk: { kty: 'RSA' },
  members: { n: -1, e: -2 },
}
const FORMS = [ED25519, ES256, RS256]

/** COSE algorithms offered, best first: Ed25519, ES256, RS256. */
export const ALGORITHMS: readonly number[] = FORMS.map(({ head }) => head.get(ALG) ?? 0)

/** Returns SubjectPublicKeyInfo, DER. Throws for a key that was not offered. */
export function readCose(cose: { get(label: number): unknown }): Buffer {
  const form = FORMS.find(({ head }) => [...head].every(([label, is]) => cose.get(label) === is))
  if (!form) throw new Error('a key of this kind was not offered')
  const bytes = (label: number) => {
    const value = cose.get(label)
    if (!(value instanceof Uint8Array)) throw new Error('the public key cannot be read')
    return Buffer.from(value)
  }
  if (form === RS256 && bytes(-1).length < RSA_BYTES_MIN) throw new Error('the key is too short')
  const members = Object.entries(form.members).map(([name, label]) => [
    name,
    bytes(label).toString('base64url'),
  ])
  const key = { ...form.jwk, ...Object.fromEntries(members) }
  return createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'der' })
}

/** Returns the COSE key, which CBOR encodes, of a stored one. */
export function writeCose(spki: Buffer): Map<number, number | Uint8Array> {
  const jwk = createPublicKey({ key: spki, format: 'der', type: 'spki' }).export({ format: 'jwk' })
  const form = FORMS.find((one) => one.jwk.kty === jwk.kty && one.jwk.crv === jwk.crv)
  if (!form) throw new Error('a key of this kind was not offered')
  const cose = new Map<number, number | Uint8Array>(form.head)
  const members = new Map(Object.entries(jwk))
  for (const [name, label] of Object.entries(form.members)) {
    cose.set(label, new Uint8Array(Buffer.from(String(members.get(name)), 'base64url')))
  }
  return cose
}
