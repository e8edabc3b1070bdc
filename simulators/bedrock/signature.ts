// The check of a signature, version 4, written from AWS's description of its steps.
import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface AccessKey {
  id: string
  secret: string
  /** Temporary credentials must include it. */
  token?: string
}

const SKEW_MS = 5 * 60_000
const HEADER = new RegExp(
  '^AWS4-HMAC-SHA256 Credential=([^/]+)/(\\d{8})/([^/]+)/([^/]+)/aws4_request, ?' +
    'SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$',
)

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()

/** Escapes every byte except letters, digits and `-._~/`, even if it is part of an escape. */
function escapeAgain(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9\-._~/]/g, (one) => {
    return `%${Buffer.from(one).toString('hex').toUpperCase()}`
  })
}

function sortedQuery(query: string): string {
  return query === '' ? '' : query.split('&').sort().join('&')
}

export type Verdict = 'ok' | 'missing' | 'unknown' | 'expired' | 'invalid'

export function checkSignature(
  request: IncomingMessage,
  body: Buffer,
  keys: AccessKey[],
  region: string,
): Verdict {
  const { headers, method = '', url = '' } = request
  const match = HEADER.exec(headers.authorization ?? '')
  if (!match) return 'missing'
  const [, id = '', day = '', signedRegion = '', service = '', names = '', signature = ''] = match
  const key = keys.find((one) => one.id === id)
  if (!key) return 'unknown'
  if (key.token !== undefined && headers['x-amz-security-token'] !== key.token) return 'unknown'
  const date = String(headers['x-amz-date'] ?? '')
  const iso = date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  if (!(Math.abs(Date.parse(iso) - Date.now()) < SKEW_MS)) return 'expired'
  const isScoped = date.startsWith(day) && signedRegion === region && service === 'bedrock'
  if (!isScoped || !names.split(';').includes('host')) return 'invalid'
  const [path = '', query = ''] = url.split('?')
  const lines = names.split(';').map((name) => {
    return `${name}:${String(headers[name] ?? '')
      .trim()
      .replaceAll(/ +/g, ' ')}\n`
  })
  const canonical = [
    method,
    escapeAgain(path),
    sortedQuery(query),
    lines.join(''),
    names,
    sha256(body),
  ]
  const scope = `${day}/${region}/bedrock/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical.join('\n'))].join('\n')
  const steps = [day, region, 'bedrock', 'aws4_request']
  const signing = steps.reduce<string | Buffer>(
    (last, step) => hmac(last, step),
    `AWS4${key.secret}`,
  )
  return hmac(signing, toSign).toString('hex') === signature ? 'ok' : 'invalid'
}
