/** Sends traces and metrics to the operator's collector (OTLP over HTTP, JSON). */
import type { Dispatcher } from 'undici'
import { request } from 'undici'
import { trimEnd } from '../lib/text/trim-end.ts'

const TIMEOUT_MS = 5_000

/**
 * `endpoint` is the base address, as OpenTelemetry defines the variable: the path of the signal is
 * appended.
 * Rejects if the collector cannot be reached or does not answer with 2xx.
 */
export async function sendTelemetry(
  dispatcher: Dispatcher,
  endpoint: string,
  signal: 'traces' | 'metrics',
  body: Buffer,
): Promise<void> {
  const { statusCode, body: answer } = await request(`${trimEnd(endpoint, '/')}/v1/${signal}`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  await answer.dump({ limit: 65_536 })
  if (statusCode < 200 || statusCode > 299) throw new Error(`answered ${statusCode}`)
}
