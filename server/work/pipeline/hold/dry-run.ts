/** Dry run: validates and prices a call without sending it, by the same checks as a real call. */

import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import { parseRequestJson } from '../../../wire/dialects/request-json/parse.ts'
import type { Upstream } from '../../../wire/upstreams/upstream.ts'
import type { Body, FormReading, Metering, RequestMetering } from '../metering.ts'
import { viewOf } from '../request/customer-view.ts'
import { dropModelList, readModelList } from '../request/fallbacks.ts'
import { withInvalidRequests } from '../request/read-request.ts'
import {
  type Customer,
  choosePart,
  findModelTarget,
  type ResolvedCall,
  readModelId,
} from '../request/resolve.ts'
import { dropUnset } from '../request/unset.ts'
import type { Services } from '../services.ts'
import { type QuotedCall, quoteAll } from './quote.ts'

/** The first and last bytes of a form's file, which show its format and length. */
export interface DryRunFile {
  readonly bytes: number
  readonly head: Buffer
  readonly tail: Buffer
}

export interface DryRunRequest {
  /** The JSON body, or the fields of a form. */
  readonly value: Body
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly file?: DryRunFile | undefined
  readonly requestId: string
}

/** Throws as the call itself would: 400, 403, 404 or 502. */
export async function dryRun(
  metering: RequestMetering,
  { value: sent, query, headers, file, requestId }: DryRunRequest,
  customer: Customer,
  services: Services,
  canServe: (upstream: Upstream) => boolean,
): Promise<ResolvedCall> {
  const unset = metering.form ? sent : dropUnset(sent, metering.schema)
  const list = metering.takesModels && readModelList(unset, viewOf(customer, services))
  const value = list ? dropModelList(unset, list) : unset
  const modelId = await readModelId(metering, { value, query, headers }, customer, services)
  const inspected = metering.form && (await inspect(metering.form, file))
  const named = { id: modelId, others: list ? list.others : undefined }
  const target = await findModelTarget(named, metering, value, customer, services, canServe)
  // Clients serialise the same way, so the size equals that of a call.
  const body = Buffer.from(JSON.stringify(value))
  const parsed = metering.form ? undefined : parseRequestJson(body)
  const fields = parsed?.ok ? parsed.fields : new Map()
  const part =
    inspected && (await withInvalidRequests(() => choosePart(inspected, metering, target.model)))
  return {
    ...target,
    idempotency: null,
    discard: async () => undefined,
    request: {
      body: metering.form ? NO_BODY : body,
      fields,
      value,
      headers,
      requestId,
      ...(part ? { file: { ...part, ...UNREADABLE } } : {}),
      createdAtSeconds: 0,
      model: target.model.id,
      stream: metering.streams(value),
      estimateInputTokens: () => metering.inputTokens(value, body.length),
    },
  }
}

const NO_BODY = Buffer.alloc(0)
const FILLER = Buffer.alloc(1 << 20)
const UNREADABLE = { read: async () => 0, publish: async () => '' }

/**
 * Runs the inspector of uploads over the file, with zeros between its first and last bytes; what it
 * reads between them is not there.
 */
async function inspect({ fileBytesMax, inspect: begin }: FormReading, file?: DryRunFile) {
  if (!file) throw invalidField('file', 'required')
  const { bytes, head, tail } = file
  if (bytes > fileBytesMax) throw new GatewayError('too_large')
  const tailAt = bytes - tail.length
  const whole = tailAt > head.length ? undefined : Buffer.concat([head.subarray(0, tailAt), tail])
  const read = async (start: number, end: number) => {
    if (whole) return whole.subarray(start, end + 1)
    return start < tailAt ? head.subarray(start, end + 1) : tail.subarray(start - tailAt)
  }
  return withInvalidRequests(() => {
    const inspector = begin()
    inspector.push(head)
    for (let gap = bytes - head.length - tail.length; gap > 0; gap -= FILLER.length) {
      inspector.push(FILLER.subarray(0, Math.min(gap, FILLER.length)))
    }
    inspector.push(tail)
    return inspector.end(read)
  })
}

/** Returns the call with the model that the hold is for, and its quote. Throws as `dryRun`. */
export async function dryRunCall(
  metering: Metering,
  request: DryRunRequest,
  customer: Customer,
  services: Services,
): Promise<QuotedCall> {
  const call = await dryRun(metering, request, customer, services, ({ calls }) => {
    return calls[metering.operation] !== undefined
  })
  return quoteAll(metering, call, services).mostExpensive
}
