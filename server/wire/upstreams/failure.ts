/** Kinds of upstream failures, which decide about the hold and about other routes. */
import type { Readable } from 'node:stream'
import { unpackBytes } from '../../base/lib/detect-packed.ts'

/**
 * - `not_sent`: nothing reached the vendor; any route may be tried.
 * - `busy`: refused for load or rate; another route may be tried, this channel cools down.
 * - `failed`: the vendor answered that it failed; another route may be tried.
 * - `channel_fault`: credentials, quota or configuration of the channel; operators must act.
 * - `rejected`: the request itself is at fault; no route will do better.
 * - `unknown`: it may have been carried out; never tried again.
 */
export type FailureKind = 'not_sent' | 'busy' | 'failed' | 'channel_fault' | 'rejected' | 'unknown'

export interface FailureDetails {
  /** The vendor's HTTP status, when there was an answer. */
  readonly status?: number | undefined
  /** The vendor's message, for the operator's log; public only for `rejected`. */
  readonly message?: string | undefined
  readonly code?: string | undefined
  readonly param?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  /** True for a complete error in the vendor's own form, as opposed to an error page of a proxy. */
  readonly isStated?: boolean
  /** The vendor's answer, for endpoints that pass refusals through. */
  readonly answer?: { readonly contentType: string; readonly body: Buffer }
  readonly cause?: unknown
}

export class UpstreamFailure extends Error {
  readonly kind: FailureKind
  readonly details: FailureDetails

  constructor(kind: FailureKind, details: FailureDetails = {}) {
    super(details.message ?? `upstream ${kind}`, { cause: details.cause })
    this.name = 'UpstreamFailure'
    this.kind = kind
    this.details = details
  }
}

const REJECTIONS = new Set([400, 409, 413, 415, 422])
const BUSY = new Set([429, 503, 529])
/** Time-outs and lost connections of a proxy: the vendor behind it may still be working. */
const UNKNOWN = new Set([408, 502, 504, 520, 524])
const CHANNEL_FAULTS = new Set([401, 402, 403, 404, 405])

/** Returns the usual kind for an HTTP status; adapters refine it by the vendor's codes. */
export function classifyStatus(status: number): FailureKind {
  if (REJECTIONS.has(status)) return 'rejected'
  if (BUSY.has(status)) return 'busy'
  if (UNKNOWN.has(status)) return 'unknown'
  if (CHANNEL_FAULTS.has(status)) return 'channel_fault'
  return 'failed'
}

/**
 * Returns the failure of a task creation. An error page of a proxy says nothing about the request,
 * except that it is too large.
 */
export function readCreationFailure(failure: UpstreamFailure): UpstreamFailure {
  const { kind, details } = failure
  const { status = 0, isStated = false } = details
  if (kind !== 'rejected' || isStated || status < 400 || status === 413) {
    return refuseIfStated(failure)
  }
  return new UpstreamFailure('failed', { ...details, cause: failure })
}

/** Returns the vendor's own complete error as a refusal, whatever its status. */
export function refuseIfStated(failure: UpstreamFailure): UpstreamFailure {
  const { kind, details } = failure
  if (kind !== 'unknown' || !details.isStated) return failure
  return new UpstreamFailure('failed', { ...details, cause: failure })
}

/** Drops the vendor's answer, whose form is another dialect's than that of the caller. */
export function throwInOwnForm(error: unknown): never {
  if (!(error instanceof UpstreamFailure)) throw error
  const { answer: _another, ...rest } = error.details
  throw new UpstreamFailure(error.kind, rest)
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** A longer wait is useless to a caller: the longest quotas of vendors are daily. */
const RETRY_SECONDS_MAX = 86_400

/**
 * Returns the wait that the vendor states, at most a day: `retry-after-ms`, or `retry-after` in
 * seconds or as a date, which is read against the response's own `date`. Undefined for invalid
 * values.
 */
export function readRetryAfter(headers: Headers): number | undefined {
  const seconds = readStatedWait(headers)
  return seconds === undefined ? undefined : Math.min(seconds, RETRY_SECONDS_MAX)
}

function readStatedWait(headers: Headers): number | undefined {
  const read = (name: string) => {
    const value = headers[name]
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
  }
  const ms = readSeconds(read('retry-after-ms'))
  if (ms !== undefined) return ms / 1000
  const text = read('retry-after')
  const seconds = readSeconds(text)
  if (seconds !== undefined || text === undefined) return seconds
  const wait = (Date.parse(text) - Date.parse(read('date') ?? '')) / 1000
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined
}

function readSeconds(text: string | undefined): number | undefined {
  const seconds = Number(text)
  return text !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

const ERROR_BYTES_MAX = 256 * 1024

/** Reads an error body up to 256 KiB; returns the part received if it is cut off. */
export async function readErrorBody(response: { readonly body: Readable }): Promise<Buffer> {
  const body = await readAtMost(response.body, ERROR_BYTES_MAX)
  return unpackBytes(body, ERROR_BYTES_MAX, true).catch(() => body)
}

async function readAtMost(body: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= limit) break
    }
  } catch {
    // The status is enough; a broken error body only loses its message.
  }
  body.destroy()
  return Buffer.concat(chunks).subarray(0, limit)
}
