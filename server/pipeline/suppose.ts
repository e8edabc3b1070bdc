/**
 * A call that has not come: the same checks and the same model as of one that has, so that what it
 * would freeze can be told before anything is sent.
 */
import type { Upstream } from '../upstreams/upstream.ts'
import type { Body, Metering, Reading } from './metering.ts'
import { type Quote, quote } from './quote.ts'
import { type Customer, findTarget, type ResolvedCall, readModelId } from './resolve.ts'
import type { Services } from './services.ts'

export interface SupposedRequest {
  /** The JSON body, or the fields of a form. */
  readonly value: Body
  readonly query: URLSearchParams
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  /** Of a form's file: how much of it counts, and of a recording how long it is. */
  readonly file?: { readonly bytes: number; readonly seconds: number } | undefined
  readonly requestId: string
}

/** Throws what the call itself would be refused with: 400, 403, 404 or 502. */
export async function suppose(
  reading: Reading,
  { value, query, headers, file, requestId }: SupposedRequest,
  customer: Customer,
  services: Services,
  speaks: (upstream: Upstream) => boolean,
): Promise<ResolvedCall> {
  const modelId = await readModelId(reading, { value, query, headers })
  const target = await findTarget(modelId, reading, value, customer, services, speaks)
  return {
    ...target,
    idempotency: null,
    discard: async () => undefined,
    request: {
      ...{ body: Buffer.from(JSON.stringify(value)), fields: new Map(), value, headers, requestId },
      ...(file ? { file: { ...file, read: async () => 0, publish: async () => '' } } : {}),
      createdAtSeconds: 0,
      model: modelId,
      stream: reading.streams(value),
      inputTokensEstimate: reading.inputTokens(value),
    },
  }
}

/** What a call and its hold would be. Throws as `suppose` does. */
export async function supposeCall(
  metering: Metering,
  request: SupposedRequest,
  customer: Customer,
  services: Services,
): Promise<{ readonly call: ResolvedCall; readonly quoted: Quote }> {
  const call = await suppose(metering, request, customer, services, ({ calls }) => {
    return calls[metering.operation] !== undefined
  })
  return { call, quoted: quote(metering, call) }
}
