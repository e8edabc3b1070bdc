/** One endpoint as a reader sees it: what both the OpenAPI document and the page are made of. */

import type { Envelope } from '../../http/envelope.ts'
import type { Method } from '../../http/router.ts'
import type { Documentation, Endpoint, Example } from '../endpoint.ts'
import {
  describeAnswer,
  describeRequest,
  type JsonSchema,
  listSchemaMembers,
} from './json-schema.ts'

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
  /** In OpenAPI's notation; the first is the canonical one. */
  readonly paths: readonly [string, ...string[]]
  readonly tag: string
  readonly summary: string
  readonly description: string | undefined
  readonly envelope: Envelope
  readonly needsKey: boolean
  /** Of the admin API: the cookie of a sign-in, not a key. */
  readonly needsSession: boolean
  /** Of the admin API: an access token does as well. */
  readonly takesToken: boolean
  /** Whether a call costs money, and so understands Idempotency-Key. */
  readonly isPaid: boolean
  readonly parameters: readonly Parameter[]
  readonly body: JsonSchema | undefined
  readonly bodyType: 'application/json' | 'multipart/form-data'
  /** Undefined for an endpoint that always refuses. */
  readonly answer: { readonly type: string; readonly schema: JsonSchema } | undefined
  /** A success has no body: 204. */
  readonly answersNothing: boolean
  readonly stream: { readonly type: string; readonly description: string } | undefined
  /** Statuses of errors, lowest first. */
  readonly errors: readonly number[]
  readonly example: Example | undefined
}

const MODEL_PLACEHOLDER = 'MODEL'

/** `modelOf` names a model of the endpoint's types for its example, if there is one. */
export function describeEndpoint(
  endpoint: Endpoint,
  modelOf: (types: readonly string[]) => string | undefined = () => undefined,
): ReferenceOperation {
  const { method, documentation, envelope, kind } = endpoint
  const [first, ...aliases] = endpoint.paths
  const needsKey = kind !== 'plain'
  const reading = readingOf(endpoint)
  const isPaid = reading !== undefined
  const types = reading?.modelTypes ?? []
  const form = reading?.form
  const { errors = [] } = documentation
  const body = reading?.schema ?? documentation.body
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
    bodyType: form ? 'multipart/form-data' : 'application/json',
    answer: describeSuccess(documentation),
    answersNothing: documentation.answersNothing === true,
    stream: documentation.stream,
    errors: [...new Set(needsKey ? [401, ...errors] : errors)].sort((a, b) => a - b),
    example: documentation.example?.(modelOf(types) ?? MODEL_PLACEHOLDER),
  }
}

/** The part of a form that no schema of its fields knows. */
function withFile(fields: JsonSchema): JsonSchema {
  const file: JsonSchema = { type: 'string', format: 'binary', description: 'The recording.' }
  const { properties, required = [] } = fields
  return { ...fields, properties: { ...properties, file }, required: [...required, 'file'] }
}

function describeSuccess({ answer, answerType }: Documentation): ReferenceOperation['answer'] {
  if (answer) return { type: answerType ?? 'application/json', schema: describeAnswer(answer) }
  return answerType === undefined ? undefined : { type: answerType, schema: { type: 'string' } }
}

/** How a paid endpoint's requests are read: a call's or a task's. */
function readingOf(endpoint: Endpoint) {
  if (endpoint.kind === 'metered') return endpoint.metering
  return endpoint.kind === 'task' ? endpoint.submission : undefined
}

/** `:id` and `*` become `{id}`: the wildcard stands for an id that may hold slashes. */
function toTemplate(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}').replace('*', '{id}')
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

function listParameters({ paths, documentation, kind }: Endpoint): Parameter[] {
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
  ]
}

/** Understood by every paid endpoint. */
export const IDEMPOTENCY_KEY: Parameter = {
  in: 'header',
  name: 'Idempotency-Key',
  required: false,
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description: 'Your own name for this request: a repeat within 24 hours is not charged again.',
  },
}
