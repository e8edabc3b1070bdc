/**
 * A call that has not come: the same checks and the same model as of one that has, so that what it
 * would freeze can be told before anything is sent.
 */
import { parseRequestJson } from '../../dialects/json-scan.ts'
import { GatewayError, invalidField } from '../../lib/errors.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import type { Body, FormReading, Metering, RequestMetering } from '../metering.ts'
import { withInvalidRequests } from '../request/read-request.ts'
import {
  type Customer,
  findModelTarget,
  type ResolvedCall,
  readModelId,
} from '../request/resolve.ts'
import type { Services } from '../services.ts'
import { type Quote, quote } from './quote.ts'

/** A form's file by its ends, which say what it is and how long. */
export interface DryRunFile {
  readonly bytes: number
  readonly head: Buffer
  readonly tail: Buffer
}

export interface DryRunRequest {
  /** The JSON body, or the fields of a form. */
  readonly value: Body
  readonly query: URLSearchParams
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  readonly file?: DryRunFile | undefined
  readonly requestId: string
}

/** Throws what the call itself would be refused with: 400, 403, 404 or 502. */
export async function dryRun(
  reading: RequestMetering,
  { value, query, headers, file, requestId }: DryRunRequest,
  customer: Customer,
  services: Services,
  speaks: (upstream: Upstream) => boolean,
): Promise<ResolvedCall> {
  const modelId = await readModelId(reading, { value, query, headers })
  const counted = reading.form && (await inspect(reading.form, file))
  const target = await findModelTarget(modelId, reading, value, customer, services, speaks)
  // As clients write it: the same bytes are counted as of a call.
  const body = Buffer.from(JSON.stringify(value))
  const parsed = reading.form ? undefined : parseRequestJson(body)
  const fields = parsed?.ok ? parsed.fields : new Map()
  return {
    ...target,
    idempotency: null,
    discard: async () => undefined,
    request: {
      body: reading.form ? NO_BODY : body,
      fields,
      value,
      headers,
      requestId,
      ...(counted ? { file: { ...counted, read: async () => 0, publish: async () => '' } } : {}),
      createdAtSeconds: 0,
      model: modelId,
      stream: reading.streams(value),
      estimateInputTokens: () => reading.inputTokens(value, body.length),
    },
  }
}

const NO_BODY = Buffer.alloc(0)
const FILLER = Buffer.alloc(1 << 20)

/** The same inspector that sees the file as it arrives; between its ends it is shown nothing. */
async function inspect({ fileBytesMax, inspect: begin }: FormReading, file?: DryRunFile) {
  if (!file) throw invalidField('file', 'required')
  const { bytes, head, tail } = file
  if (bytes > fileBytesMax) throw new GatewayError('too_large')
  return withInvalidRequests(() => {
    const inspector = begin()
    inspector.push(head)
    for (let rest = bytes - head.length - tail.length; rest > 0; rest -= FILLER.length) {
      inspector.push(FILLER.subarray(0, Math.min(rest, FILLER.length)))
    }
    inspector.push(tail)
    return inspector.end()
  })
}

/** What a call and its hold would be. Throws as `dryRun` does. */
export async function dryRunCall(
  metering: Metering,
  request: DryRunRequest,
  customer: Customer,
  services: Services,
): Promise<{ readonly call: ResolvedCall; readonly quoted: Quote }> {
  const call = await dryRun(metering, request, customer, services, ({ calls }) => {
    return calls[metering.operation] !== undefined
  })
  return { call, quoted: quote(metering, call, services) }
}
