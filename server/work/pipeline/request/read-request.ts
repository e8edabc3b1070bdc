/** Reads a caller's request: JSON, or a form with a file. */
import { createHash, type Hash } from 'node:crypto'
import type { ZodType } from 'zod'
import { readJsonBody } from '../../../base/http/body.ts'
import { expectUpload } from '../../../base/http/connections/slow-uploads.ts'
import { accountOf, type Context, takePortion } from '../../../base/http/context.ts'
import { readContent } from '../../../base/http/decode-content.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { Memory } from '../../../base/lib/memory/memory.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import { InvalidRequest } from '../../../wire/dialects/invalid-request.ts'
import type { JsonFields } from '../../../wire/dialects/json-scan.ts'
import {
  type ParsedRequest,
  parseInSteps,
  parseRequestJson,
} from '../../../wire/dialects/request-json/parse.ts'
import { spliceJson } from '../../../wire/dialects/splice.ts'
import type { Body, FormReading, RequestMetering } from '../metering.ts'
import type { ReceivedFile, Services } from '../services.ts'
import { isForm, readForm as readWholeForm } from './read-form.ts'
import { dropUnset } from './unset.ts'
import { writeFormJson } from './write-form-json.ts'

/** A JSON object without its fields that are not set. */
export interface RequestJson {
  /** The bytes that are priced and sent. */
  readonly body: Buffer
  readonly value: Body
  readonly fields: JsonFields
}

export interface ReceivedRequest extends RequestJson {
  /** On disk until it is closed. */
  readonly file: ReceivedFile | undefined
  /** Returns a digest of the request that does not depend on the boundary of its form. */
  readonly digest: () => Buffer
}

/** The framing and the fields around a form's file. */
const FRAME_BYTES_MAX = 1024 * 1024
/** Bytes that are hashed in one turn of the event loop: some milliseconds. */
const HASHED_BYTES = 4 * 1024 * 1024
const NO_BODY = Buffer.alloc(0)
const NO_FIELDS: JsonFields = new Map()

/** Throws GatewayError: 400, 408, 413, 415 or 503. */
export async function readRequest(
  context: Context,
  reading: RequestMetering,
  caller: Caller,
  services: Services,
): Promise<ReceivedRequest> {
  const { form, fromForm } = reading
  if (form) return readForm(context, form, caller, services)
  const limitBytes = bodyLimit(reading, services)
  const sent =
    fromForm && isForm(context.request)
      ? await readSentForm(context, fromForm, limitBytes)
      : await readJsonBody(context, limitBytes)
  const named = reading.fromPath ? withMembers(sent, reading.fromPath(context)) : sent
  const json = await parseJson(context, named, reading.schema)
  const isHashed = context.request.headers['idempotency-key'] !== undefined
  const isLong = sent.length > HASHED_BYTES
  const digest = isHashed && isLong ? await digestInTurns(context, sent) : undefined
  return { ...json, file: undefined, digest: () => digest ?? digestOf(context, sent) }
}

/** Returns the body with `members` replaced or added. Throws 400. */
function withMembers(sent: Buffer, members: Body): Buffer {
  const { body, fields } = parseObject(sent)
  const entries = Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)])
  return spliceJson(body, fields, { set: Object.fromEntries(entries) })
}

/** Returns the bytes of the JSON that a form stands for. */
async function readSentForm(
  context: Context,
  fromForm: NonNullable<RequestMetering['fromForm']>,
  limitBytes: number,
): Promise<Buffer> {
  const form = await readWholeForm(context, limitBytes)
  const members = await withInvalidRequests(() => fromForm(form))
  const json = await writeFormJson(members, () => context.memory.loop.turn(accountOf(context)))
  // Pictures are a third longer in JSON than in the form, whose size is counted.
  takePortion(context, 'request').force(json.length)
  return json
}

/** Reads the JSON object of a request. Rejects with GatewayError: 400, 413 or 415. */
export async function readJson(
  context: Context,
  limitBytes: number,
  schema: ZodType,
): Promise<RequestJson> {
  return await parseJson(context, await readJsonBody(context, limitBytes), schema)
}

/** Rejects with 400. */
async function parseJson(context: Context, sent: Buffer, schema: ZodType): Promise<RequestJson> {
  const parsed = await parseInTurns(sent, context.memory, accountOf(context))
  return withoutUnset(sent, toRequestJson(sent, parsed), schema)
}

/**
 * Parses a body, a long one over several turns of the event loop; the last turn is left to the code
 * that validates it.
 */
export async function parseInTurns(
  bytes: Buffer,
  { loop }: Pick<Memory, 'loop'>,
  account: string,
): Promise<ParsedRequest> {
  const steps = parseInSteps(bytes)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await loop.turn(account)
  }
}

/**
 * Removes the fields that are null, from the bytes as well: they neither count towards the price
 * nor reach an upstream.
 */
function withoutUnset(sent: Buffer, parsed: RequestJson, schema: ZodType): RequestJson {
  const value = dropUnset(parsed.value, schema)
  if (value === parsed.value) return parsed
  const set: Record<string, string> = {}
  for (const [name, member] of Object.entries(value)) {
    if (member !== parsed.value[name]) set[name] = JSON.stringify(member)
  }
  const remove = Object.keys(parsed.value).filter((name) => !Object.hasOwn(value, name))
  return parseObject(spliceJson(sent, parsed.fields, { set, remove }))
}

/** Parses a JSON object. Throws 400. */
export function parseObject(body: Buffer): RequestJson {
  return toRequestJson(body, parseRequestJson(body))
}

function toRequestJson(body: Buffer, parsed: ParsedRequest): RequestJson {
  if (!parsed.ok) {
    const { message, field } = parsed
    throw new GatewayError('invalid_request', { message, ...(field ? { param: field } : {}) })
  }
  const { value, fields } = parsed
  return { body, value, fields }
}

function bodyLimit({ bodyBytesMax, takesPictures }: RequestMetering, { limits }: Services): number {
  return Math.min(bodyBytesMax, takesPictures ? limits.chatBytesMax : limits.jsonBytesMax)
}

async function readForm(
  context: Context,
  { fileBytesMax: bytesMax, inspect }: FormReading,
  { accountId }: Caller,
  { forms }: Services,
): Promise<ReceivedRequest> {
  const { request } = context
  expectUpload(request)
  const { fields, file } = await withInvalidRequests(() =>
    readContent(context, bytesMax + FRAME_BYTES_MAX, (content) =>
      forms.read(request, content, { accountId, bytesMax, inspector: inspect() }),
    ),
  )
  context.bodyBytes = Math.max(context.bodyBytes, file.bytes)
  const entries = [...fields].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    body: NO_BODY,
    fields: NO_FIELDS,
    file,
    // A form has no null: clients send empty fields for what is not set.
    value: Object.fromEntries(entries.filter(([, text]) => text !== '')),
    digest: () =>
      digestOf(context, Buffer.concat([Buffer.from(JSON.stringify(entries)), file.sha256])),
  }
}

function digestOf(context: Context, content: Buffer): Buffer {
  return beginDigest(context).update(content).digest()
}

/** Returns what `digestOf` does. */
async function digestInTurns(context: Context, content: Buffer): Promise<Buffer> {
  const hash = beginDigest(context)
  for (let at = 0; at < content.length; at += HASHED_BYTES) {
    hash.update(content.subarray(at, at + HASHED_BYTES))
    await context.memory.loop.turn(accountOf(context))
  }
  return hash.digest()
}

function beginDigest({ request, path }: Context): Hash {
  return createHash('sha256')
    .update(request.url ?? path)
    .update('\n')
}

/** Turns a dialect's InvalidRequest into a 400. */
export async function withInvalidRequests<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof InvalidRequest)) throw error
    const { message, param } = error
    throw new GatewayError('invalid_request', { message, param })
  }
}
