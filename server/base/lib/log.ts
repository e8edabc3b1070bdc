/** The log that every part writes to, and the fields that a line may have. */

/** All fields of the log. Any other does not compile, and is not written either. */
export const LOG_FIELDS = [
  'account_id',
  'address',
  'amount',
  'asset_id',
  'attempt',
  'attempt_id',
  'attempts',
  'channel',
  'charged',
  'client_request_id',
  'closed',
  'code',
  'count',
  'cpu_ms',
  'delivery_id',
  'duration_ms',
  'error',
  'file',
  'first_token_ms',
  'hold_id',
  'host',
  'input_tokens',
  'job',
  'key_id',
  'kind',
  'mail_id',
  'method',
  'model',
  'outcome',
  'output_tokens',
  'owner_id',
  'pid',
  'port',
  'reason',
  'request_id',
  'request_ms',
  'revision',
  'route',
  'seconds',
  'settings',
  'signal',
  'span_id',
  'status',
  'task_id',
  'trace_id',
  'upstream',
  'upstream_id',
  'upstream_ms',
  'url',
  'verdict',
  'waiting',
] as const

type LogField = (typeof LOG_FIELDS)[number]
type LogFields = Readonly<Partial<Record<LogField, unknown>>>

/** `Fields`, in which a field that the log does not know has the type `never`. */
type OnlyLogFields<Fields> = Fields & { readonly [Name in Exclude<keyof Fields, LogField>]: never }
type Write = <Fields extends LogFields>(fields: OnlyLogFields<Fields>, message: string) => void

export interface Log {
  readonly debug: Write
  readonly info: Write
  readonly warn: Write
  readonly error: Write
}

/** A line as it is written: its fields are allowed ones, and secrets in them are masked. */
export interface LogLine {
  readonly level: keyof Log
  readonly time: Date
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}
