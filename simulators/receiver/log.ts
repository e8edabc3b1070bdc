// A complete log of received webhooks, without the limits of the general call log.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

export interface Received {
  sequence: number
  at: number
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** The scenario of the response; empty for a regular one. */
  scenario: string
  /** Undefined if the URL has no secret to verify with. */
  signed: boolean | undefined
}

const KEPT = 100_000

export class ReceiverLog {
  private entries: Received[] = []
  private sequence = 0

  add(entry: Omit<Received, 'sequence' | 'at'>): void {
    this.sequence += 1
    this.entries.push({ sequence: this.sequence, at: Date.now(), ...entry })
    if (this.entries.length > KEPT) this.entries = this.entries.slice(KEPT / 2)
  }

  list(path: string | null, since: number): Received[] {
    return this.entries.filter(
      (entry) => entry.sequence > since && (path === null || entry.path === path),
    )
  }

  clear(): void {
    this.entries = []
  }
}

const TOLERANCE_SECONDS = 300

/**
 * Verifies the signature of a webhook (docs/guides/webhooks.md#verify-it): HMAC-SHA256 over
 * `<timestamp>.<raw body>`, with a fresh timestamp.
 */
export function isSigned(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const timestamp = String(headers['x-service-timestamp'] ?? '')
  const signature = Buffer.from(String(headers['x-service-signature'] ?? ''))
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false
  const hmac = createHmac('sha256', secret).update(`${timestamp}.`).update(body)
  const expected = Buffer.from(`sha256=${hmac.digest('hex')}`)
  return signature.length === expected.length && timingSafeEqual(signature, expected)
}
