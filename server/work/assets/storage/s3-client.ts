/** The client of an object store, set up for any that speaks S3, over the gateway's own `fetch`. */
import { Readable } from 'node:stream'
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { openWatched } from '../../../base/outbound/fetch-watched.ts'

export interface ObjectStore {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  /**
   * Without keys, the machine's credentials are used: its role, web identity, environment or
   * profile.
   */
  readonly keys: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
}

const ATTEMPTS_MAX = 3
/** The silence in the middle of an answer after which the request is abandoned. */
const IDLE_MS = 10_000

/** The part of a request that is sent. */
interface Sent {
  readonly protocol: string
  readonly hostname: string
  readonly port?: number
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string | string[] | null>>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: RequestInit['body']
}

/**
 * Returns the URL of the bucket, whose name may already be the first label of the host, and the
 * bucket name for the client.
 */
export function bucketOf({ endpoint, bucket }: ObjectStore) {
  const isInHost = new URL(endpoint).hostname.startsWith(`${bucket}.`)
  return isInHost
    ? { address: endpoint, bucket: endpoint, isInHost }
    : { address: `${endpoint}/${bucket}`, bucket, isInHost }
}

/** Returns a client that sends each request by `send`. */
export async function openS3Client(settings: ObjectStore, send: typeof fetch): Promise<S3Client> {
  const { S3Client } = await import('@aws-sdk/client-s3')
  const { isInHost } = bucketOf(settings)
  const client = new S3Client({
    region: settings.region,
    ...(isInHost
      ? { bucketEndpoint: true }
      : { endpoint: settings.endpoint, forcePathStyle: true }),
    // The client modifies the object that it gets.
    ...(settings.keys ? { credentials: { ...settings.keys } } : {}),
    maxAttempts: ATTEMPTS_MAX,
    // Other stores do not know the checksums that the client would add on its own.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // `fetch` cannot wait for a "100 Continue".
    expectContinueHeader: false,
    requestHandler: createHandler(send),
  })
  // Content is not hashed for the signature: TLS protects it, and the ETags of its parts are sent.
  client.middlewareStack.add(
    (next) => (build) => {
      const { headers } = build.request as { headers: Record<string, string> }
      headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD'
      return next(build)
    },
    { step: 'build', name: 'unsignedPayload' },
  )
  return client
}

function createHandler(send: typeof fetch): NonNullable<S3ClientConfig['requestHandler']> {
  return {
    async handle(request: Sent) {
      const { host: _, 'content-length': __, ...headers } = request.headers
      const { method } = request
      const answer = await send(urlOf(request), { method, headers, body: bodyOf(request) })
      const body = answer.body ? openWatched(answer.body, IDLE_MS) : Readable.from([])
      const { status: statusCode, headers: stated } = answer
      return { response: { statusCode, headers: Object.fromEntries(stated), body } }
    },
  }
}

function bodyOf({ method, body }: Sent): NonNullable<RequestInit['body']> | null {
  return method === 'GET' || method === 'HEAD' ? null : (body ?? null)
}

function urlOf({ protocol, hostname, port, path, query = {} }: Sent): URL {
  const url = new URL(`${protocol}//${hostname}${port ? `:${port}` : ''}${path}`)
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encode(name)}=${encode(one ?? '')}`),
  )
  url.search = pairs.join('&')
  return url
}

/** Encoded as in the signature (RFC 3986). */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
