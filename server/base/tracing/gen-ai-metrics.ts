/**
 * Histograms of OpenTelemetry's conventions for generative AI. Their attributes are bounded as
 * Prometheus' labels are: no account and no key.
 */
import type { Histogram, Meter } from '@opentelemetry/api'
import type { Context } from '../http/context.ts'
import { type AttributeValues, DEFAULT_PORTS, operationOf, present, tokensOf } from './gen-ai.ts'

/** As the conventions advise. */
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power)
const SECONDS = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power)
const FIRST_TOKEN = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
]
const PER_TOKEN = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]

const METRICS = {
  'gen_ai.client.token.usage': { unit: '{token}', bounds: TOKENS },
  'gen_ai.client.operation.duration': { unit: 's', bounds: SECONDS },
  'gen_ai.server.request.duration': { unit: 's', bounds: SECONDS },
  'gen_ai.server.time_to_first_token': { unit: 's', bounds: FIRST_TOKEN },
  'gen_ai.server.time_per_output_token': { unit: 's', bounds: PER_TOKEN },
} as const
type MetricName = keyof typeof METRICS

/** Returns a function that counts a request that is over. */
export function createGenAiMetrics(meter: Meter): (context: Context) => void {
  const histograms = new Map<string, Histogram>()
  for (const [name, { unit, bounds }] of Object.entries(METRICS)) {
    const advice = { explicitBucketBoundaries: [...bounds] }
    histograms.set(name, meter.createHistogram(name, { unit, advice }))
  }
  const observe: Observe = (name, attributes, value) => {
    histograms.get(name)?.record(value, present(attributes))
  }
  return (context) => count(context, observe)
}

type Observe = (name: MetricName, attributes: AttributeValues, value: number) => void

function count({ facts, startedAt, end }: Context, observe: Observe): void {
  const last = facts.attemptFacts?.at(-1)
  if (!last || facts.operation === undefined) return
  const now = performance.now()
  const url = last.address === undefined ? undefined : new URL(last.address)
  const common: AttributeValues = {
    'gen_ai.operation.name': operationOf(facts),
    'gen_ai.provider.name': last.provider,
    'gen_ai.request.model': facts.model?.slice(0, 100),
    'server.address': url?.hostname,
    'server.port': url && Number(url.port || DEFAULT_PORTS[url.protocol]),
  }
  const ended = { ...common, 'error.type': last.errorType }
  const attemptEnd = facts.isStream && last.errorType === undefined ? now : last.endedAt
  observe('gen_ai.client.operation.duration', ended, (attemptEnd - last.startedAt) / 1000)
  observe('gen_ai.server.request.duration', ended, ((end?.at ?? now) - startedAt) / 1000)
  const tokens = tokensOf(facts)
  for (const type of ['input', 'output'] as const) {
    if (!tokens) continue
    const attributes = { ...common, 'gen_ai.token.type': type }
    observe('gen_ai.client.token.usage', attributes, tokens[type])
  }
  const { firstOutputAt } = facts
  if (firstOutputAt === undefined) return
  observe('gen_ai.server.time_to_first_token', common, (firstOutputAt - startedAt) / 1000)
  if (!tokens || tokens.output < 2) return
  const seconds = (now - firstOutputAt) / 1000 / (tokens.output - 1)
  observe('gen_ai.server.time_per_output_token', common, seconds)
}
