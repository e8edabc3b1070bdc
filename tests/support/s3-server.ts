/**
 * A small, strict object store over a socket: it computes every request's signature (SigV4) anew
 * and refuses what does not match, keeps the rules of multipart uploads, and fails on command.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

export const CREDENTIALS = { accessKeyId: 'test-access', secretAccessKey: 'test-secret/+=x' }
const PLACE = { ...CREDENTIALS, region: 'eu-test-1', bucket: 'media' }
const PART_BYTES_MIN = 5 * 1024 * 1024
const SKEW_MS = 15 * 60_000

export interface S3Server {
  readonly environment: Readonly<Record<string, string>>
  readonly objects: Map<string, Buffer>
  readonly uploads: Map<string, Upload>
  /** The requests, for example `PUT part`, in order. */
  readonly requests: string[]
  /** The next requests of a kind are answered with this status. */
  readonly faults: { kind: string; status: number }[]
  stop(): Promise<void>
}

interface Upload {
  readonly key: string
  readonly parts: Map<number, Buffer>
}

class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

/** Starts a store with one bucket, by default on a free port of loopback. */
export async function startS3Server(
  place = PLACE,
  { host = '127.0.0.1', port: given = 0 } = {},
): Promise<S3Server> {
  const objects = new Map<string, Buffer>()
  const uploads = new Map<string, Upload>()
  const requests: string[] = []
  const faults: S3Server['faults'] = []
  const state = { place, objects, uploads, requests, faults }
  const server = createServer((request, response) => {
    answer(request, response, state).catch((error: unknown) => {
      if (!(error instanceof Refusal)) request.socket.destroy()
      else send(response, error.status, `<Error><Code>${error.code}</Code></Error>`)
    })
  })
  server.listen(given, host)
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    ...state,
    environment: {
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_BUCKET: place.bucket,
      S3_REGION: place.region,
      S3_ACCESS_KEY_ID: place.accessKeyId,
      S3_SECRET_ACCESS_KEY: place.secretAccessKey,
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

type State = Pick<S3Server, 'objects' | 'uploads' | 'requests' | 'faults'> & {
  readonly place: typeof PLACE
}

async function answer(request: IncomingMessage, response: ServerResponse, state: State) {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const url = new URL(request.url ?? '/', 'http://store')
  checkSignature(request, url, body, state.place)
  const [, bucket, key = ''] = /^\/([^/]+)\/?(.*)$/.exec(url.pathname) ?? []
  if (bucket !== state.place.bucket) throw new Refusal(404, 'NoSuchBucket')
  const kind = kindOf(request.method ?? '', url.searchParams)
  state.requests.push(kind)
  const fault = state.faults.findIndex((one) => one.kind === kind)
  if (fault >= 0) throw new Refusal(state.faults.splice(fault, 1)[0]?.status ?? 500, 'Fault')
  const asking: Asking = { request, response, url, key, body, state }
  const action = ACTIONS[kind]
  if (!action) throw new Refusal(405, 'MethodNotAllowed')
  action(asking)
}

function kindOf(method: string, query: URLSearchParams): string {
  if (query.has('list-type')) return 'GET list'
  if (query.has('uploads')) return method === 'POST' ? 'POST upload' : 'GET uploads'
  if (!query.has('uploadId')) return method
  if (method === 'PUT') return 'PUT part'
  return method === 'POST' ? 'POST complete' : 'DELETE upload'
}

interface Asking {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly key: string
  readonly body: Buffer
  readonly state: State
}

const ACTIONS: Readonly<Record<string, (asking: Asking) => void>> = {
  PUT({ response, key, body, state }) {
    state.objects.set(key, body)
    response.writeHead(200, { etag: etagOf(body) }).end()
  },
  GET: sendObject,
  DELETE({ response, key, state }) {
    state.objects.delete(key)
    response.writeHead(204).end()
  },
  'POST upload'({ response, key, state }) {
    const id = `upload-${state.uploads.size + 1}-${key.slice(-4)}`
    state.uploads.set(id, { key, parts: new Map() })
    const { bucket } = state.place
    const result = `<Bucket>${bucket}</Bucket><Key>${key}</Key><UploadId>${id}</UploadId>`
    send(response, 200, `<InitiateMultipartUploadResult>${result}</InitiateMultipartUploadResult>`)
  },
  'GET list'({ response, url, state }) {
    const { searchParams: query } = url
    const [prefix, after] = ['prefix', 'continuation-token'].map((name) => query.get(name) ?? '')
    const most = Number(query.get('max-keys') ?? 1000)
    const keys = [...state.objects.keys()].sort().filter((key) => {
      return key.startsWith(prefix ?? '') && key > (after ?? '')
    })
    const page = keys.slice(0, most)
    const isCut = page.length < keys.length
    const next = isCut ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
    const entries = page.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`)
    const result = `<IsTruncated>${isCut}</IsTruncated>${next}${entries.join('')}`
    send(response, 200, `<ListBucketResult>${result}</ListBucketResult>`)
  },
  'GET uploads'({ response, url, state }) {
    const prefix = url.searchParams.get('prefix') ?? ''
    const listed = [...state.uploads].filter(([, { key }]) => key.startsWith(prefix))
    const entries = listed.map(
      ([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`,
    )
    const { bucket } = state.place
    const result = `<Bucket>${bucket}</Bucket>${entries.join('')}<IsTruncated>false</IsTruncated>`
    send(response, 200, `<ListMultipartUploadsResult>${result}</ListMultipartUploadsResult>`)
  },
  'PUT part'({ response, url, body, state }) {
    findUpload(url, state).parts.set(Number(url.searchParams.get('partNumber')), body)
    response.writeHead(200, { etag: etagOf(body) }).end()
  },
  'POST complete': completeUpload,
  'DELETE upload'({ response, url, state }) {
    findUpload(url, state)
    state.uploads.delete(url.searchParams.get('uploadId') ?? '')
    response.writeHead(204).end()
  },
}

function sendObject({ request, response, key, state }: Asking): void {
  const object = state.objects.get(key)
  if (!object) throw new Refusal(404, 'NoSuchKey')
  const found = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
  if (!found) {
    response.writeHead(200, { 'content-length': object.length }).end(object)
    return
  }
  const [start, end] = [Number(found[1]), Math.min(Number(found[2]), object.length - 1)]
  if (start >= object.length) throw new Refusal(416, 'InvalidRange')
  const range = `bytes ${start}-${end}/${object.length}`
  response.writeHead(206, { 'content-range': range }).end(object.subarray(start, end + 1))
}

function completeUpload({ response, url, body, state }: Asking): void {
  const { key, parts } = findUpload(url, state)
  const listed = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/g)].map(([, part = '']) => ({
    number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
    etag: /<ETag>(?:"|&quot;)?(\w+)(?:"|&quot;)?</.exec(part)?.[1],
  }))
  if (listed.length === 0) throw new Refusal(400, 'MalformedXML')
  const content = listed.map(({ number, etag }, index) => {
    const part = parts.get(number)
    if (!part || etagOf(part) !== `"${etag}"`) throw new Refusal(400, 'InvalidPart')
    if (number !== index + 1) throw new Refusal(400, 'InvalidPartOrder')
    const isLast = index === listed.length - 1
    if (!isLast && part.length < PART_BYTES_MIN) throw new Refusal(400, 'EntityTooSmall')
    return part
  })
  const whole = Buffer.concat(content)
  state.objects.set(key, whole)
  state.uploads.delete(url.searchParams.get('uploadId') ?? '')
  const result = `<Key>${key}</Key><ETag>${etagOf(whole)}</ETag>`
  send(response, 200, `<CompleteMultipartUploadResult>${result}</CompleteMultipartUploadResult>`)
}

function findUpload(url: URL, { uploads }: State): Upload {
  const upload = uploads.get(url.searchParams.get('uploadId') ?? '')
  if (!upload) throw new Refusal(404, 'NoSuchUpload')
  return upload
}

function send(response: ServerResponse, status: number, xml: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' })
  response.end(`<?xml version="1.0" encoding="UTF-8"?>${xml}`)
}

const etagOf = (body: Buffer) => `"${createHash('md5').update(body).digest('hex')}"`
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

// Signatures -------------------------------------------------------------------------------------

const AUTHORIZATION = new RegExp(
  [
    '^AWS4-HMAC-SHA256 Credential=([^/]+)/(\\d{8})/([^/]+)/s3/aws4_request',
    'SignedHeaders=([^,]+)',
    'Signature=([0-9a-f]{64})$',
  ].join(', ?'),
)

/** Everything that a store of the public clouds would refuse with 403 is refused here. */
function checkSignature(
  request: IncomingMessage,
  url: URL,
  body: Buffer,
  place: typeof PLACE,
): void {
  const found = AUTHORIZATION.exec(request.headers.authorization ?? '')
  if (!found) throw new Refusal(403, 'AccessDenied')
  const [, access, day = '', region, signed = '', signature = ''] = found
  if (access !== place.accessKeyId) throw new Refusal(403, 'InvalidAccessKeyId')
  if (region !== place.region) throw new Refusal(400, 'AuthorizationHeaderMalformed')
  const date = String(request.headers['x-amz-date'] ?? '')
  if (!date.startsWith(day) || Math.abs(readDate(date) - Date.now()) > SKEW_MS) {
    throw new Refusal(403, 'RequestTimeTooSkewed')
  }
  const names = signed.split(';')
  const needed = Object.keys(request.headers).filter(
    (name) => name === 'host' || name.startsWith('x-amz-'),
  )
  if (!needed.every((name) => names.includes(name))) throw new Refusal(403, 'AccessDenied')
  const hash = String(request.headers['x-amz-content-sha256'] ?? '')
  if (hash !== 'UNSIGNED-PAYLOAD' && hash !== sha256(body)) {
    throw new Refusal(400, 'XAmzContentSHA256Mismatch')
  }
  const scope = `${day}/${place.region}/s3/aws4_request`
  const canonical = canonicalRequest(request, url, names, hash)
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha256(canonical)}`
  const dayKey = hmac(`AWS4${place.secretAccessKey}`, day)
  const key = hmac(hmac(hmac(dayKey, place.region), 's3'), 'aws4_request')
  const expected = hmac(key, text)
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) {
    throw new Refusal(403, 'SignatureDoesNotMatch')
  }
}

function canonicalRequest(
  request: IncomingMessage,
  url: URL,
  names: readonly string[],
  hash: string,
): string {
  const encode = (text: string) =>
    encodeURIComponent(text).replaceAll(
      /[!'()*]/g,
      (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
    )
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
  const headers = names.map((name) => `${name}:${String(request.headers[name] ?? '').trim()}\n`)
  const path = (request.url ?? '').split('?')[0]
  return [request.method, path, query, headers.join(''), names.join(';'), hash].join('\n')
}

function readDate(stamp: string): number {
  const text = stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  return Date.parse(text) || 0
}
