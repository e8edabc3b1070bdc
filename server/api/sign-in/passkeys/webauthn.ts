/**
 * Verifies passkeys with `@simplewebauthn/server`, which loads with the first passkey. No
 * attestation is requested: a statement with certificates is refused before the library reads them,
 * since it would contact the addresses in them to check for revocation.
 */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { ALGORITHMS, readCose, writeCose } from './public-keys.ts'

/** The expected values of a response. */
export interface Expected {
  readonly challenge: Buffer
  /** The relying party: the console's domain. */
  readonly domain: string
  readonly origin: string
}

/** `PublicKeyCredential.toJSON()` after a creation; bytes are base64url. */
export interface CreatedCredential {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly attestationObject: string
    readonly transports?: readonly string[] | undefined
  }
}

/** `PublicKeyCredential.toJSON()` after a signature; bytes are base64url. */
export interface SignedCredential {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
    readonly userHandle?: string | null | undefined
  }
}

export interface NewPasskey {
  readonly credentialId: Buffer
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer
  readonly signCount: number
  readonly backedUp: boolean
  readonly transports: readonly string[]
}

/** The reason for refusing a response, for the log. */
export class PasskeyRefusal extends Error {}

/** The longest id of the standard. */
const ID_BYTES_MAX = 1023

/** Throws PasskeyRefusal. */
export async function readCreated(
  { id, response }: CreatedCredential,
  expected: Expected,
): Promise<NewPasskey> {
  const [{ verifyRegistrationResponse }, helpers] = await load()
  return await refuse(async () => {
    const { clientDataJSON, attestationObject, transports = [] } = response
    checkPage(helpers.decodeClientDataJSON(clientDataJSON))
    const bytes = helpers.isoBase64URL.toBuffer(attestationObject)
    const statement = helpers.decodeAttestationObject(bytes)
    const isSelfMade = statement.get('fmt') === 'packed' && !statement.get('attStmt').get('x5c')
    if (statement.get('fmt') !== 'none' && !isSelfMade) {
      throw new PasskeyRefusal('it comes with an attestation, which nobody asked for')
    }
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...describe(id), response: { clientDataJSON, attestationObject } },
      ...toOptions(expected),
      supportedAlgorithmIDs: [...ALGORITHMS],
    })
    if (!registrationInfo) throw new PasskeyRefusal('the attestation is wrong')
    const { credential, credentialBackedUp } = registrationInfo
    const credentialId = Buffer.from(credential.id, 'base64url')
    if (credential.id !== id || credentialId.length > ID_BYTES_MAX) {
      throw new PasskeyRefusal('the credential id does not fit')
    }
    return {
      credentialId,
      publicKey: readCose(helpers.decodeCredentialPublicKey(credential.publicKey)),
      signCount: credential.counter,
      backedUp: credentialBackedUp,
      transports,
    }
  })
}

/** Throws PasskeyRefusal. The caller checks that the count has grown. */
export async function readSignedCredential(
  { id, response }: SignedCredential,
  expected: Expected,
  publicKey: Buffer,
): Promise<{ readonly signCount: number; readonly backedUp: boolean }> {
  const [{ verifyAuthenticationResponse }, helpers] = await load()
  return await refuse(async () => {
    const { clientDataJSON, authenticatorData, signature } = response
    checkPage(helpers.decodeClientDataJSON(clientDataJSON))
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...describe(id), response: { clientDataJSON, authenticatorData, signature } },
      ...toOptions(expected),
      credential: { id, publicKey: helpers.isoCBOR.encode(writeCose(publicKey)), counter: 0 },
    })
    if (!verified) throw new PasskeyRefusal('the signature is wrong')
    const { newCounter, credentialBackedUp } = authenticationInfo
    return { signCount: newCounter, backedUp: credentialBackedUp }
  })
}

function load() {
  return Promise.all([import('@simplewebauthn/server'), import('@simplewebauthn/server/helpers')])
}

type Described = Pick<
  RegistrationResponseJSON & AuthenticationResponseJSON,
  'id' | 'rawId' | 'type' | 'clientExtensionResults'
>

function describe(id: string): Described {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} }
}

function toOptions({ challenge, domain, origin }: Expected) {
  const expectedChallenge = challenge.toString('base64url')
  return { expectedChallenge, expectedOrigin: origin, expectedRPID: domain }
}

/** The library accepts a page inside another one if the browser does not name the outer one. */
function checkPage({ crossOrigin }: { readonly crossOrigin?: boolean }): void {
  if (crossOrigin) throw new PasskeyRefusal('inside a page of another origin')
}

/** Whatever the library throws about bytes of a browser is a refusal. */
async function refuse<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (cause instanceof PasskeyRefusal) throw cause
    throw new PasskeyRefusal(cause instanceof Error ? cause.message : 'unreadable', { cause })
  }
}
