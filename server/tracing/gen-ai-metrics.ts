/**
 * Histograms of OpenTelemetry's conventions for generative AI, sent to the collector once a minute
 * (opentelemetry/proto/metrics/v1, JSON, cumulative). Their attributes are bounded as Prometheus'
 * labels are: no account and no key.
 */
import type { Context } from '../http/context.ts'
import type { Log } from '../lib/log.ts'
import {
  type AttributeValues,
  DEFAULT_PORTS,
  operationOf,
  toAttributes,
  tokensOf,
} from './gen-ai.ts'
import { toUnixNanos } from './span.ts'

const EVERY_MS = 60_000
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

interface Point {
  readonly attributes: AttributeValues
  readonly counts: number[]
  sum: number
}

export interface GenAiMetrics {
  /** Counts a request that is over. */
  note(context: Context): void
  /** Sends everything once more, and ends. */
  stop(): Promise<void>
}

export function createGenAiMetrics(options: {
  readonly send: (body: Buffer) => Promise<void>
  /** The most combinations of attributes with figures of their own. */
  readonly placesMax: number
  readonly log: Log
}): GenAiMetrics {
  const points = new Map<MetricName, Map<string, Point>>()
  const startedAt = performance.now()

  function observe(name: MetricName, attributes: AttributeValues, value: number): void {
    const { bounds } = METRICS[name]
    const known = points.get(name) ?? new Map<string, Point>()
    points.set(name, known)
    let id = JSON.stringify(attributes)
    let kept = attributes
    if (!known.has(id) && known.size >= options.placesMax) {
      kept = { ...attributes, 'gen_ai.request.model': 'other' }
      id = JSON.stringify(kept)
    }
    const counts = () => new Array<number>(bounds.length + 1).fill(0)
    const point = known.get(id) ?? { attributes: kept, counts: counts(), sum: 0 }
    known.set(id, point)
    const found = bounds.findIndex((bound) => value <= bound)
    const bucket = found === -1 ? bounds.length : found
    point.counts[bucket] = (point.counts[bucket] ?? 0) + 1
    point.sum += value
  }

  async function flush(): Promise<void> {
    if (points.size === 0) return
    await options.send(encode(points, startedAt)).catch((error: unknown) => {
      options.log.warn({ error }, 'the collector does not take metrics')
    })
  }

  const timer = setInterval(flush, EVERY_MS)
  timer.unref()
  return {
    note: (context) => count(context, observe),
    async stop() {
      clearInterval(timer)
      await flush()
    },
  }
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

function encode(points: ReadonlyMap<MetricName, Map<string, Point>>, startedAt: number): Buffer {
  const times = {
    startTimeUnixNano: toUnixNanos(startedAt),
    timeUnixNano: toUnixNanos(performance.now()),
  }
  const metrics = [...points].map(([name, known]) => {
    const { unit, bounds } = METRICS[name]
    const dataPoints = [...known.values()].map(({ attributes, counts, sum }) => ({
      ...times,
      attributes: toAttributes(attributes),
      count: String(counts.reduce((all, one) => all + one, 0)),
      sum,
      bucketCounts: counts.map(String),
      explicitBounds: bounds,
    }))
    // 2: cumulative, as Prometheus' own histograms are.
    return { name, unit, histogram: { aggregationTemporality: 2, dataPoints } }
  })
  const resource = { attributes: toAttributes({ 'service.name': 'tributary' }) }
  const scopeMetrics = [{ scope: { name: 'tributary' }, metrics }]
  return Buffer.from(JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics }] }))
}
