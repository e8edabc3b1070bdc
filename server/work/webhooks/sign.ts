/**
 * The signature of a webhook: `sha256=` and the hex of HMAC-SHA256 over `<timestamp>.<raw body>`
 * with the account's secret as the key.
 */
import { createHmac } from 'node:crypto'

export interface SigningSecrets {
  readonly current: string
  /** The secret before the last rotation, while its overlap lasts. */
  readonly previous?: string
}

/** Returns the signature headers of one attempt. `timestamp` is in Unix seconds. */
export function signedHeaders(
  secrets: SigningSecrets,
  timestamp: number,
  body: Buffer,
): Record<string, string> {
  const { current, previous } = secrets
  return {
    'X-Service-Timestamp': String(timestamp),
    'X-Service-Signature': signature(current, timestamp, body),
    ...(previous ? { 'X-Service-Signature-Previous': signature(previous, timestamp, body) } : {}),
  }
}

function signature(secret: string, timestamp: number, body: Buffer): string {
  const hmac = createHmac('sha256', secret).update(`${timestamp}.`).update(body)
  return `sha256=${hmac.digest('hex')}`
}
