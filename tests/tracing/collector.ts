/** A collector of OpenTelemetry's protocol in JSON, on loopback, and what it has been sent. */
import { text } from 'node:stream/consumers'
import { startServer } from '../support/servers/local-server.ts'

interface Attribute {
  readonly key: string
  readonly value: object
}

interface Described {
  readonly attributes: readonly Attribute[]
}

export interface SentSpan extends Described {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status?: { readonly code: number }
}

interface SentLine extends Described {
  readonly severityText: string
  readonly traceId?: string
  readonly spanId?: string
  readonly body: { readonly stringValue: string }
}

interface SentPoint extends Described {
  readonly sum: number
  readonly bucketCounts: readonly unknown[]
}

type Signal = 'traces' | 'metrics' | 'logs'

/** Attributes by name; whole numbers are text or numbers on the wire, and numbers here. */
export function valuesOf({ attributes }: Described): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [[kind, held]] = Object.entries(value) as [[string, unknown]]
      return [key, kind === 'intValue' ? Number(held) : held]
    }),
  )
}

export async function startCollector() {
  const bodies: Record<Signal, string[]> = { traces: [], metrics: [], logs: [] }
  const types = new Set<string | undefined>()
  const state = { status: 200 }
  const server = await startServer(async (request, response) => {
    types.add(request.headers['content-type'])
    const signal = /^\/base\/v1\/(\w+)$/.exec(request.url ?? '')?.[1] as Signal
    bodies[signal].push(await text(request))
    response.writeHead(state.status, { 'content-type': 'application/json' }).end('{}')
  })
  const url = `${server.url}/base/`
  const read = (signal: Signal) => bodies[signal].map((body) => JSON.parse(body))
  return {
    /** Of the process and of its gateway: the SDK reads the former. */
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    bodies,
    types,
    state,
    spans: (): SentSpan[] =>
      read('traces').flatMap((sent) => sent.resourceSpans[0].scopeSpans[0].spans),
    lines: (): SentLine[] =>
      read('logs').flatMap((sent) => sent.resourceLogs[0].scopeLogs[0].logRecords),
    points(name: string): SentPoint[] {
      const { metrics } = read('metrics').at(-1).resourceMetrics[0].scopeMetrics[0]
      const found = metrics.find((one: { name: string }) => one.name === name)
      return found?.histogram.dataPoints ?? []
    },
    resource: (): Record<string, unknown> => valuesOf(read('traces')[0].resourceSpans[0].resource),
    stop: server.stop,
  }
}
