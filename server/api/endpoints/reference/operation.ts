/** One endpoint of the reference: the input of both the OpenAPI document and the page. */

import { setImmediate } from 'node:timers/promises'
import type { Envelope } from '../../../base/http/envelope.ts'
import type { Method } from '../../../base/http/router.ts'
import { CALL_ERRORS, type Documentation, type Endpoint, type Example } from '../endpoint.ts'
import { meteringOf, toTemplate } from '../serving.ts'
import {
  describeAnswer,
  describeRequest,
  type JsonSchema,
  listSchemaMembers,
} from './json-schema.ts'
import { sampleOf } from './sample.ts'

export interface Parameter {
  readonly in: 'path' | 'query' | 'header'
  readonly name: string
  readonly required: boolean
  readonly schema: JsonSchema
}

export interface ReferenceOperation {
  /** Unique, for anchors and generated clients: `postChatCompletions`. */
  readonly id: string
  readonly method: Method
  /** In the notation of OpenAPI; the first is the canonical one. */
  readonly paths: readonly [string, ...string[]]
  readonly tag: string
  readonly summary: string
  readonly description: string | undefined
  readonly envelope: Envelope
  readonly needsKey: boolean
  /** True for the admin API: it takes the session cookie, not a key. */
  readonly needsSession: boolean
  /** True if the admin API also accepts an access token. */
  readonly takesToken: boolean
  /** True if a call costs money; it then accepts an Idempotency-Key. */
  readonly isPaid: boolean
  readonly parameters: readonly Parameter[]
  readonly body: JsonSchema | undefined
  readonly bodyType: 'application/json' | 'multipart/form-data'
  /** The form that is also taken; absent if none is. */
  readonly formBody?: JsonSchema | undefined
  /** Undefined for an endpoint that only upgrades connections. */
  readonly answer: { readonly type: string; readonly schema: JsonSchema } | undefined
  /** True if a success is 204, without a body. */
  readonly answersNothing: boolean
  readonly stream: { readonly type: string; readonly description: string } | undefined
  /** Statuses of errors, lowest first. */
  readonly errors: readonly number[]
  readonly example: Example | undefined
}

const MODEL_PLACEHOLDER = 'MODEL'

const describedOnce = new WeakSet<Endpoint>()

/**
 * Describes endpoints. What has not been described before takes milliseconds each: other requests
 * are served between any two of them.
 */
export async function describeEndpoints(
  endpoints: readonly Endpoint[],
  modelOf: (endpoint: Endpoint) => string | undefined = () => undefined,
): Promise<ReferenceOperation[]> {
  for (const endpoint of endpoints) {
    if (describedOnce.has(endpoint)) continue
    describeEndpoint(endpoint)
    describedOnce.add(endpoint)
    await setImmediate()
  }
  return endpoints.map((endpoint) => describeEndpoint(endpoint, modelOf(endpoint)))
}

/** Describes an endpoint. `model` is the one of its example. */
export function describeEndpoint(
  endpoint: Endpoint,
  model: string = MODEL_PLACEHOLDER,
): ReferenceOperation {
  const { method, documentation, envelope, kind } = endpoint
  const [first, ...aliases] = endpoint.paths
  const needsKey = kind !== 'plain'
  const metering = meteringOf(endpoint)
  const isPaid = metering !== undefined
  const form = metering?.form
  const { errors = isPaid ? CALL_ERRORS : [] } = documentation
  const body = metering?.schema ?? documentation.body
  return {
    id: nameOperation(method, first),
    method,
    paths: [toTemplate(first), ...aliases.map(toTemplate)],
    tag: documentation.tag,
    summary: documentation.summary,
    description: documentation.description,
    envelope,
    needsKey,
    needsSession: documentation.credential?.startsWith('session') ?? false,
    takesToken: documentation.credential === 'session or token',
    isPaid,
    parameters: listParameters(endpoint),
    body: body && (form ? withFile(describeRequest(body)) : describeRequest(body)),
    formBody: body && metering?.fromForm ? withPictures(describeRequest(body)) : undefined,
    bodyType: form ? 'multipart/form-data' : 'application/json',
    answer: describeSuccess(documentation),
    answersNothing: documentation.answersNothing === true,
    stream: documentation.stream,
    errors: listErrors(needsKey ? [401, ...errors] : errors),
    example: documentation.example?.(model) ?? sampleBody(documentation.body),
  }
}

/** Returns an example for a call that has a body and no example of its own. */
function sampleBody(body: Documentation['body']): Example | undefined {
  return body && { body: sampleOf(describeRequest(body)) }
}

/** Returns false for an endpoint that only upgrades connections. */
export function isCallable({ answer, answersNothing }: ReferenceOperation): boolean {
  return answer !== undefined || answersNothing
}

/** Adds 431, which every endpoint answers to long headers, where no other refusal is known. */
function listErrors(errors: readonly number[]): number[] {
  const isRefusal = (status: number) => status >= 400 && status < 500
  const all = errors.some(isRefusal) ? errors : [431, ...errors]
  return [...new Set(all)].sort((a, b) => a - b)
}

/** Adds the file of a form, which the schema of its fields does not contain. */
function withFile(fields: JsonSchema): JsonSchema {
  const file: JsonSchema = { type: 'string', format: 'binary', description: 'The recording.' }
  const { properties, required = [] } = fields
  return { ...fields, properties: { ...properties, file }, required: [...required, 'file'] }
}

const FILE: JsonSchema = { type: 'string', format: 'binary' }

/** Replaces the pictures of JSON by files. */
function withPictures({ properties, ...rest }: JsonSchema): JsonSchema {
  const { images: _images, image: _image, mask, ...fields } = properties ?? {}
  const image: JsonSchema = { type: 'array', items: FILE, description: '`image` or `image[]`.' }
  return { ...rest, properties: { ...fields, image, ...(mask ? { mask: FILE } : {}) } }
}

function describeSuccess({ answer, answerType }: Documentation): ReferenceOperation['answer'] {
  if (answer) return { type: answerType ?? 'application/json', schema: describeAnswer(answer) }
  return answerType === undefined ? undefined : { type: answerType, schema: { type: 'string' } }
}

function nameOperation(method: string, path: string): string {
  const words = toTemplate(path)
    .replace(/^\/v\d+\//, '')
    .replace(/\{(\w+)\}/g, 'by $1')
    .split(/[^A-Za-z\d]+/)
    .filter((word) => word !== '')
  const capitalised = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return method.toLowerCase() + capitalised.join('')
}

function listParameters(endpoint: Endpoint): Parameter[] {
  const { paths, documentation, kind } = endpoint
  const names = [...toTemplate(paths[0]).matchAll(/\{(\w+)\}/g)].map(({ 1: name = '' }) => name)
  const inPath = names.map((name) => ({
    in: 'path' as const,
    name,
    required: true,
    schema: { type: 'string' } satisfies JsonSchema,
  }))
  const { query, headers } = documentation
  const inQuery = query ? listSchemaMembers(describeRequest(query)) : []
  const inHeaders = headers ? listSchemaMembers(describeRequest(headers)) : []
  return [
    ...inPath,
    ...inQuery.map((member) => ({ in: 'query' as const, ...member })),
    ...inHeaders.map((member) => ({ in: 'header' as const, ...member })),
    ...(kind === 'metered' || kind === 'task' ? [IDEMPOTENCY_KEY] : []),
    ...(kind === 'metered' && endpoint.metering.usagePlace ? [COST] : []),
  ]
}

const COST: Parameter = {
  in: 'header',
  name: 'X-Tributary-Cost',
  required: false,
  schema: {
    type: 'string',
    enum: ['true'],
    description:
      'Adds the charge as `usage.cost` to the body, or to the last usage of a stream: a number, ' +
      'in the currency of the account.',
  },
}

/** The header that every paid endpoint accepts. */
export const IDEMPOTENCY_KEY: Parameter = {
  in: 'header',
  name: 'Idempotency-Key',
  required: false,
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description: 'Your own name for this request: a retry within 24 hours is not charged again.',
  },
}
