/** The OpenAPI 3.1 document, generated from the endpoints' own declarations. */
import type { Envelope } from '../../../base/http/envelope.ts'
import { RATE_HEADERS, rateHeaderNames } from '../../../base/http/rate-headers.ts'
import { isNativePath } from '../native-prefixes.ts'
import type { JsonSchema } from './json-schema.ts'
import { isCallable, type ReferenceOperation } from './operation.ts'
import { listStatuses, MEANINGS } from './statuses.ts'
import { TAG_DESCRIPTIONS } from './tags.ts'

/** The version of the API in its paths; the gateway's own version changes more often. */
const API_VERSION = '1'

export interface OpenapiOptions {
  readonly operations: readonly ReferenceOperation[]
  readonly publicUrl: string
}

export function buildOpenapi({ operations, publicUrl }: OpenapiOptions): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tributary',
      version: API_VERSION,
      description: 'A metered AI gateway: one address, one key, a prepaid balance.',
      contact: { name: 'The operator of this gateway', url: publicUrl },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({
      name,
      description: TAG_DESCRIPTIONS[name],
    })),
    paths: buildPaths(operations),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      schemas: ERROR_SCHEMAS,
    },
  }
}

const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'Your API key: Authorization: Bearer tr-…',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same key.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'tributary_session',
    description:
      'The console’s session cookie (`__Host-tributary_session` under https). Requests ' +
      'that change something also need the header `x-tributary-console: 1`.',
  },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An access token for the admin API, created in the console’s settings: ' +
      '`Authorization: Bearer tra-…`. Cookies are ignored beside it, and no other header ' +
      'is needed.',
  },
}

const HEADERS = {
  RequestId: {
    description: 'The id of this request: GET /v1/usage/{request_id} explains its charge.',
    schema: { type: 'string' },
  },
  ServerTiming: {
    description: 'Milliseconds of each step of a call: auth, hold, upstream, settle.',
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Seconds after which a retry may succeed.',
    schema: { type: 'integer', minimum: 1 },
  },
  ShouldRetry: {
    description:
      '`true`: no work was done. `false`: a retry cannot help, or might buy the work ' +
      'twice. If absent, the status decides.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  IdempotentReplayed: {
    description: 'The id of the earlier request whose response this is.',
    schema: { type: 'string' },
  },
  ...Object.fromEntries(RATE_HEADERS.map((name) => [name, describeRateHeader(name)])),
}

/** They are sent only where a limit of its kind applies. */
function describeRateHeader(name: string) {
  const kind = name.includes('token') ? 'tokens' : 'requests'
  const what = `${kind} within a minute, of the nearest limit of key, account and model`
  if (!name.includes('reset')) {
    const part = name.includes('remaining') ? 'What is left of the' : 'The limit of'
    return { description: `${part} ${what}.`, schema: { type: 'integer', minimum: 0 } }
  }
  const form = name.startsWith('x-') ? 'The time, such as `59.8s` or `1m0s`,' : 'When, in RFC 3339,'
  return {
    description: `${form} until nothing counts any more of the ${what}.`,
    schema: { type: 'string' },
  }
}

const TYPES = [...new Set(listStatuses().map(({ type }) => type))]

const BILLING: JsonSchema = {
  type: 'object',
  description:
    'Only of a 402: the amount that the call would have held, and the balance, as decimals.',
  properties: {
    required: { type: 'string' },
    available: { type: 'string' },
    debt: { type: 'string' },
    currency: { type: 'string' },
  },
}

const ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  FlatError: {
    type: 'object',
    description: 'The error body of this API.',
    properties: {
      error: { type: 'string' },
      type: { type: 'string', enum: TYPES },
      billing: BILLING,
    },
    required: ['error', 'type'],
  },
  AdminError: {
    type: 'object',
    description: 'The error body of the admin API.',
    properties: {
      error: { type: 'string' },
      type: { type: 'string', enum: TYPES },
      param: { type: 'string', description: 'The invalid field, for example `prices[0].amount`.' },
    },
    required: ['error', 'type'],
  },
  NestedError: {
    type: 'object',
    description: 'The error body expected by vendors’ SDKs.',
    properties: {
      type: { type: 'string', const: 'error' },
      error: {
        type: 'object',
        properties: {
          type: { type: 'string', enum: TYPES },
          message: { type: 'string' },
          code: { type: ['string', 'null'] },
          param: { type: ['string', 'null'], description: 'The field at fault.' },
          billing: BILLING,
        },
        required: ['type', 'message', 'code', 'param'],
      },
    },
    required: ['type', 'error'],
  },
  NativeError: {
    type: 'object',
    description: 'The error body expected by clients of the native API.',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: { type: 'string', description: 'Such as `InvalidParameter`.' },
          message: { type: 'string', description: 'Ends in the id of the request.' },
          param: { type: 'string', description: 'The field at fault, or empty.' },
          type: { type: 'string', description: 'Such as `BadRequest`.' },
          billing: BILLING,
        },
        required: ['code', 'message', 'param', 'type'],
      },
      type: { type: 'string', enum: TYPES },
    },
    required: ['error', 'type'],
  },
}

function buildPaths(operations: readonly ReferenceOperation[]): Record<string, object> {
  const paths: Record<string, Record<string, object | string>> = {}
  for (const operation of operations) {
    for (const [index, path] of operation.paths.entries()) {
      const item = paths[path] ?? {}
      paths[path] = item
      // OpenAPI cannot express a WebSocket, so it is described at its path.
      if (isCallable(operation)) {
        item[operation.method.toLowerCase()] = buildOperation(operation, index)
      } else item.description = describeUpgrade(operation)
    }
  }
  return paths
}

function describeUpgrade({ method, summary, description = '' }: ReferenceOperation): string {
  return `${method} with an upgrade: ${summary}. ${description}`
}

/** Builds one operation; paths after the first are aliases with their own ids. */
function buildOperation(operation: ReferenceOperation, index: number): object {
  const { id, tag, summary, description, body, parameters, example } = operation
  const alias = index > 0 ? `The same as ${operation.paths[0]}.` : undefined
  const envelope = isNativePath(operation.paths[index] ?? '') ? 'native' : operation.envelope
  const text = [description, alias].filter((part) => part !== undefined).join(' ')
  return {
    operationId: index === 0 ? id : `${id}Alias${index}`,
    tags: [tag],
    summary,
    description: text || undefined,
    security: listCredentials(operation),
    ...(parameters.length > 0 ? { parameters: parameters.map(buildParameter) } : {}),
    ...(body ? { requestBody: buildBody(operation, body, example?.body) } : {}),
    responses: buildResponses(operation, envelope),
  }
}

function listCredentials({ needsKey, needsSession, takesToken }: ReferenceOperation): object[] {
  if (needsKey) return [{ bearer: [] }, { apiKey: [] }]
  if (!needsSession) return []
  return [{ session: [] }, ...(takesToken ? [{ accessToken: [] }] : [])]
}

function buildParameter({
  in: place,
  name,
  required,
  schema,
}: ReferenceOperation['parameters'][number]) {
  const { description, ...rest } = schema
  return { in: place, name, required, description: description || undefined, schema: rest }
}

function buildBody(
  { bodyType, formBody }: ReferenceOperation,
  schema: JsonSchema,
  example: unknown,
): object {
  const media = { schema, example }
  const form = formBody ? { 'multipart/form-data': { schema: formBody } } : {}
  return { required: true, content: { [bodyType]: media, ...form } }
}

function buildResponses(operation: ReferenceOperation, envelope: Envelope): Record<string, object> {
  const { answer, stream, isPaid, errors, example } = operation
  const failures = errors.map((status) => [String(status), buildError(status, envelope)])
  if (operation.answersNothing) {
    const done = { description: 'Done.', headers: refer(['RequestId']) }
    return { 204: done, ...Object.fromEntries(failures) }
  }
  if (!answer) return Object.fromEntries(failures)
  const sample = example?.answer === undefined ? {} : { example: example.answer }
  const content = {
    [answer.type]: { schema: answer.schema, ...sample },
    ...(stream
      ? { [stream.type]: { schema: { type: 'string', description: stream.description } } }
      : {}),
  }
  const ofCalls = isPaid ? ['IdempotentReplayed', ...rateHeaderNames(envelope)] : []
  const headers = refer(['RequestId', 'ServerTiming', ...ofCalls])
  const success = { description: 'Success.', headers, content }
  return { 200: success, ...Object.fromEntries(failures) }
}

const HEADER_NAMES: Readonly<Record<string, string>> = {
  RequestId: 'X-Request-Id',
  ServerTiming: 'Server-Timing',
  RetryAfter: 'Retry-After',
  ShouldRetry: 'x-should-retry',
  IdempotentReplayed: 'Idempotent-Replayed',
}

function refer(names: readonly string[]): Record<string, object> {
  const entries = names.map((name) => [
    HEADER_NAMES[name] ?? name,
    { $ref: `#/components/headers/${name}` },
  ])
  return Object.fromEntries(entries)
}

function buildError(status: number, envelope: Envelope): object {
  const waits = [409, 429, 502, 503].includes(status)
  const decides = [400, 401, 402, 409, 429, 500, 502, 503].includes(status)
  const possible = { RequestId: true, RetryAfter: waits, ShouldRetry: decides }
  const headers = Object.entries(possible).flatMap(([name, has]) => (has ? [name] : []))
  return {
    description: MEANINGS[status] ?? 'An error.',
    headers: refer([...headers, ...(status === 429 ? rateHeaderNames(envelope) : [])]),
    content: { 'application/json': { schema: errorSchema(envelope) } },
  }
}

/** Callers of the messages dialect choose the envelope by their version header. */
function errorSchema(envelope: Envelope): object {
  const flat = { $ref: '#/components/schemas/FlatError' }
  const nested = { $ref: '#/components/schemas/NestedError' }
  if (envelope === 'messages') return { oneOf: [flat, nested] }
  if (envelope === 'native') return { $ref: '#/components/schemas/NativeError' }
  if (envelope === 'admin') return { $ref: '#/components/schemas/AdminError' }
  return envelope === 'nested' ? nested : flat
}
