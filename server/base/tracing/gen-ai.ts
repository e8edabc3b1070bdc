/**
 * Names and attributes of calls by OpenTelemetry's conventions for generative AI (in development:
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/). No content is ever an attribute.
 */
import type { Attributes } from '@opentelemetry/api'
import type { AttemptFacts, LogFacts } from '../http/context.ts'
import { CACHE_WRITE_UNITS, INPUT_UNITS, OUTPUT_UNITS, sumOf } from '../lib/units.ts'

export type AttributeValues = Readonly<
  Record<string, string | number | bigint | boolean | undefined>
>

/** Drops absent members; of an amount beyond 9 million, the last digits are rounded. */
export function present(values: AttributeValues): Attributes {
  const there = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    there.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  )
}

/** The conventions' names of operations; others keep their own. */
const OPERATIONS: Readonly<Record<string, string>> = {
  messages: 'chat',
  responses: 'chat',
  embedding: 'embeddings',
  image: 'generate_content',
}

export function operationOf({ operation = '' }: LogFacts): string {
  return OPERATIONS[operation] ?? operation
}

/** Returns the tokens of a call; undefined where none are known. */
export function tokensOf({ usage }: LogFacts) {
  if (!usage) return undefined
  const input = sumOf(usage, INPUT_UNITS)
  const output = sumOf(usage, OUTPUT_UNITS)
  return input + output === 0 ? undefined : { input, output }
}

function describeUsage(facts: LogFacts): AttributeValues {
  const { usage = {} } = facts
  const tokens = tokensOf(facts)
  if (!tokens) return {}
  const cacheWrites = sumOf(usage, CACHE_WRITE_UNITS)
  return {
    'gen_ai.usage.input_tokens': tokens.input,
    'gen_ai.usage.output_tokens': tokens.output,
    'gen_ai.usage.cache_read.input_tokens': usage.cached_input_token,
    'gen_ai.usage.cache_creation.input_tokens': cacheWrites === 0 ? undefined : cacheWrites,
  }
}

/** Describes a call to the caller's side; undefined for a request without a model. */
export function describeModelCall(facts: LogFacts) {
  const { operation, model } = facts
  if (operation === undefined || model === undefined) return undefined
  const last = facts.attemptFacts?.at(-1)
  const attributes: AttributeValues = {
    'gen_ai.operation.name': operationOf(facts),
    'gen_ai.provider.name': last?.provider,
    'gen_ai.request.model': model.slice(0, 100),
    'gen_ai.request.stream': facts.isStream,
    'gen_ai.response.id': facts.answerId,
    'error.type': last?.errorType,
    ...describeUsage(facts),
  }
  return { name: `${operationOf(facts)} ${model.slice(0, 100)}`, attributes }
}

/** Describes one attempt at a vendor; only the last one has the usage. */
export function describeAttempt(facts: LogFacts, attempt: AttemptFacts, isLast: boolean) {
  const { provider, channel, upstreamModel, address, errorType } = attempt
  const url = address === undefined ? undefined : new URL(address)
  const isServed = isLast && errorType === undefined
  const attributes: AttributeValues = {
    'gen_ai.operation.name': operationOf(facts),
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': upstreamModel,
    'gen_ai.request.stream': facts.isStream,
    'gen_ai.response.id': isServed ? facts.answerId : undefined,
    'server.address': url?.hostname,
    'server.port': url && Number(url.port || DEFAULT_PORTS[url.protocol]),
    'error.type': errorType,
    'tributary.channel': channel,
    ...(isServed ? describeUsage(facts) : {}),
  }
  return { name: `${operationOf(facts)} ${upstreamModel}`, attributes }
}

export const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'ws:': 80,
  'https:': 443,
  'wss:': 443,
}
