/** Lines of the log as OpenTelemetry's records: the same fields, after the log has masked them. */
import { type Logger, SeverityNumber, TraceFlags } from '@opentelemetry/api'
import type { LogLine } from '../lib/log.ts'
import { toParent } from './spans.ts'

const SEVERITIES = {
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
} as const

export function createLineSender(logger: Logger): (line: LogLine) => void {
  return ({ level, time, fields, message }) => {
    const { trace_id, span_id, error, ...others } = fields
    logger.emit({
      timestamp: time,
      severityNumber: SEVERITIES[level],
      severityText: level.toUpperCase(),
      body: message,
      attributes: { ...toValues(others), ...describeError(error) },
      context: toParent(
        typeof trace_id === 'string' && typeof span_id === 'string'
          ? { traceId: trace_id, spanId: span_id, traceFlags: TraceFlags.SAMPLED }
          : undefined,
      ),
    })
  }
}

/** Of OpenTelemetry's kinds: a bigint is its digits, anything else that is not plain is JSON. */
function toValues(fields: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isPlain(value) ? value : toJson(value)]),
  )
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function toJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  return JSON.stringify(value, (_name, part) => (typeof part === 'bigint' ? String(part) : part))
}

/** An error as the log describes it, by the names of the conventions. */
function describeError(error: unknown) {
  if (error === undefined) return {}
  if (typeof error !== 'object' || error === null) return { 'exception.message': String(error) }
  const { name, message, at, ...others } = error as Readonly<Record<string, unknown>>
  return {
    'exception.type': String(name),
    'exception.message': String(message),
    ...(Array.isArray(at) ? { 'exception.stacktrace': at.join('\n') } : {}),
    ...(others.code === undefined ? {} : { 'error.code': String(others.code) }),
    ...(others.cause === undefined ? {} : { 'error.cause': toJson(others.cause) }),
  }
}
