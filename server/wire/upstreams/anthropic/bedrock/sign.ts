/** An API key or a signature for a request to AWS (docs/protocols/bedrock.md#credentials). */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import type { WireRequest } from '../../wire.ts'

interface Credentials {
  readonly region: string
  readonly api_key?: string | undefined
  readonly access_key_id?: string | undefined
  readonly secret_access_key?: string | undefined
  readonly session_token?: string | undefined
}

interface Unsigned extends Pick<WireRequest, 'method' | 'url' | 'headers'> {
  readonly body?: Buffer
}

/** Returns the headers of the request with its credentials, valid for five minutes. */
export async function signRequest(
  { method, url, headers, body }: Unsigned,
  credentials: Credentials,
  nowMs: number,
  service = 'bedrock',
): Promise<Readonly<Record<string, string>>> {
  const {
    region,
    api_key: key,
    access_key_id: id = '',
    secret_access_key: secret = '',
  } = credentials
  if (key !== undefined) return { ...headers, authorization: `Bearer ${key}` }
  const { session_token: sessionToken } = credentials
  const signer = new SignatureV4({
    service,
    region,
    credentials: {
      accessKeyId: id,
      secretAccessKey: secret,
      ...(sessionToken === undefined ? {} : { sessionToken }),
    },
    applyChecksum: false,
    sha256: Sha256,
  })
  const { protocol, hostname, host, pathname, searchParams } = new URL(url)
  const signed = await signer.sign(
    {
      method,
      protocol,
      hostname,
      path: pathname,
      query: Object.fromEntries(searchParams),
      // The wire sends this host itself.
      headers: { ...headers, host },
      body,
    },
    { signingDate: new Date(nowMs) },
  )
  const { host: _host, ...rest } = signed.headers
  return rest
}

/** The signer's own interface of a hash; with a secret, of an HMAC. */
class Sha256 {
  private readonly secret: string | ArrayBuffer | ArrayBufferView | undefined
  private hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.secret = secret
    this.hash = this.create()
  }

  update(chunk: string | Uint8Array): void {
    this.hash.update(chunk)
  }

  async digest(): Promise<Uint8Array> {
    return this.hash.digest()
  }

  reset(): void {
    this.hash = this.create()
  }

  private create(): Hash | Hmac {
    const { secret } = this
    if (secret === undefined) return createHash('sha256')
    return createHmac('sha256', typeof secret === 'string' ? secret : toBytes(secret))
  }
}

function toBytes(secret: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (secret instanceof ArrayBuffer) return new Uint8Array(secret)
  return new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength)
}
