/**
 * OpenTelemetry's SDK, which reads its own variables (`OTEL_*`) from the process's environment.
 * This file is loaded only when they name an exporter: nothing else imports the SDK. Data that a
 * collector does not accept is dropped, counted and reported; it never delays a call.
 */
import {
  context,
  DiagLogLevel,
  diag,
  logs,
  metrics,
  propagation,
  SamplingDecision,
  SpanKind,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import {
  diagLogLevelFromString,
  ExportResultCode,
  getStringFromEnv,
  setGlobalErrorHandler,
} from '@opentelemetry/core'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { NodeSDK } from '@opentelemetry/sdk-node'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import type { Context } from '../http/context.ts'
import type { TraceParent } from '../http/trace-context.ts'
import type { Log, LogLine } from '../lib/log.ts'
import { createGenAiMetrics } from './gen-ai-metrics.ts'
import { createLineSender } from './log-records.ts'
import { createSpanWriter, PRESET_IDS, toParent } from './spans.ts'

/** Longest wait for the collector when a process stops. */
const FLUSH_MS = 5_000
/** The same problem is reported at most once within this time. */
const REPORT_MS = 10 * 60_000

const SAMPLERS = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) =>
    new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
} as const satisfies Readonly<Record<string, (ratio: number) => Sampler>>

export interface Sampling {
  readonly name: keyof typeof SAMPLERS
  readonly ratio: number
}

export interface Telemetry {
  /** Decides whether a request is traced; undefined if traces have no exporter. */
  readonly isSampled: IsSampled | undefined
  /** Notes a request whose response is complete. */
  note(context: Context): void
  /** Sends a line of the log. */
  send(line: LogLine): void
  /** From now on, `count` is called with the number of spans that the collector did not accept. */
  onDropped(count: (spans: number) => void): void
  /** Sends waiting data, for five seconds at most, and shuts down. */
  stop(): Promise<void>
}

export type IsSampled = (traceId: string, parent: TraceParent | undefined) => boolean

export interface TelemetryOptions {
  readonly version: string
  readonly sampling: Sampling
  /** The most combinations of attributes with metrics of their own. */
  readonly placesMax: number
  /** Must not send its lines to the collector: they are about it. */
  readonly log: Log
}

/** Starts the SDK. A process has one. */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { log, placesMax, sampling } = options
  const state = { dropped: (_spans: number): void => undefined }
  const exporter = await loadSpanExporter()
  const ours = { 'service.name': 'tributary', 'service.version': options.version }
  const sdk = new NodeSDK({
    // The environment's own service name and attributes take precedence.
    resource: defaultResource().merge(resourceFromAttributes(ours)),
    views: [{ meterName: 'tributary', aggregationCardinalityLimit: placesMax }],
    // Whether a request is sampled is decided when it arrives, and its ids are created then.
    sampler: new AlwaysOnSampler(),
    idGenerator: PRESET_IDS,
    ...(exporter && { traceExporter: counted(exporter, (spans) => state.dropped(spans)) }),
  })
  report(log, (spans) => state.dropped(spans))
  sdk.start()
  const writeSpans = createSpanWriter(trace.getTracer('tributary'))
  const noteMetrics = createGenAiMetrics(metrics.getMeter('tributary'))
  const sendLine = createLineSender(logs.getLogger('tributary'))
  return {
    isSampled: getStringFromEnv('OTEL_TRACES_EXPORTER') === 'none' ? undefined : decide(sampling),
    note(request) {
      writeSpans(request)
      noteMetrics(request)
    },
    send: sendLine,
    onDropped(count) {
      state.dropped = count
    },
    async stop() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, FLUSH_MS).unref())
      await Promise.race([sdk.shutdown().catch(warner(log)), late])
      for (const one of [trace, metrics, logs, context, propagation, diag]) one.disable()
    },
  }
}

/** Returns the sampler's decision about a request from the header that it came with. */
export function decide({ name, ratio }: Sampling): IsSampled {
  const sampler: Sampler = SAMPLERS[name](ratio)
  return (traceId, parent) => {
    const flags = parent?.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE
    const result = sampler.shouldSample(
      toParent(parent && { traceId, spanId: parent.spanId, traceFlags: flags, isRemote: true }),
      traceId,
      'request',
      SpanKind.SERVER,
      {},
      [],
    )
    return result.decision === SamplingDecision.RECORD_AND_SAMPLED
  }
}

const EXPORTERS = {
  grpc: () => import('@opentelemetry/exporter-trace-otlp-grpc'),
  'http/json': () => import('@opentelemetry/exporter-trace-otlp-http'),
  'http/protobuf': () => import('@opentelemetry/exporter-trace-otlp-proto'),
} as const

/** Returns the exporter that the environment names; undefined where the SDK makes it by itself. */
async function loadSpanExporter(): Promise<SpanExporter | undefined> {
  if ((getStringFromEnv('OTEL_TRACES_EXPORTER') ?? 'otlp') !== 'otlp') return undefined
  const all = getStringFromEnv('OTEL_EXPORTER_OTLP_PROTOCOL')
  const protocol = getStringFromEnv('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? all
  const load = EXPORTERS[protocol as keyof typeof EXPORTERS] ?? EXPORTERS['http/protobuf']
  const { OTLPTraceExporter } = await load()
  return new OTLPTraceExporter()
}

function counted(exporter: SpanExporter, dropped: (spans: number) => void): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) dropped(spans.length)
        done(result)
      })
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
}

/** The SDK's message after its queue was full. */
const QUEUE_FULL = /^Dropped (\d+) spans/

/** The SDK's own messages go to the log. They may quote an answer of the collector. */
function report(log: Log, dropped: (spans: number) => void): void {
  setGlobalErrorHandler(warner(log))
  const isNew = once()
  const write = (message: string) => {
    const [, spans] = QUEUE_FULL.exec(message) ?? []
    if (spans) dropped(Number(spans))
    if (isNew(message)) log.warn({ reason: message }, 'OpenTelemetry')
  }
  const quiet = () => undefined
  const logger = { error: write, warn: write, info: write, debug: quiet, verbose: quiet }
  const level = getStringFromEnv('OTEL_LOG_LEVEL')
  const logLevel = (level && diagLogLevelFromString(level)) || DiagLogLevel.WARN
  diag.setLogger(logger, { logLevel, suppressOverrideMessage: true })
}

function warner(log: Log): (error: unknown) => void {
  const isNew = once()
  return (error) => {
    const reason = error instanceof Error ? error.message : String(error)
    if (isNew(reason)) log.warn({ error }, 'the collector does not take what is sent')
  }
}

/** Returns true for a text that it has not seen lately. */
function once(): (text: string) => boolean {
  const seen = new Map<string, number>()
  return (text) => {
    const now = performance.now()
    for (const [known, at] of seen) if (now - at > REPORT_MS) seen.delete(known)
    if (seen.has(text) || seen.size > 100) return false
    seen.set(text, now)
    return true
  }
}
