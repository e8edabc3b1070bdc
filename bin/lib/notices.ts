/**
 * The notices of `tributary serve` outside of the log: text for people on standard error, or lines
 * of the log where LOG_FORMAT=json promises that every line is a JSON object.
 */
import { createLog, type LogOptions } from '../../server/api/app/log.ts'
import { describeCommandFailure, messagesOfFailure } from './failure.ts'

export interface ServeNotices {
  /** The settings that differ from their defaults, as NAME=value. */
  readonly configured: (settings: readonly string[]) => void
  /** The start failed. */
  readonly failed: (error: unknown) => void
  /** An error that nothing caught: the process stops. */
  readonly uncaught: (error: unknown) => void
}

/** Until the configuration is read, `level` is unknown and everything is printed. */
export function createNotices(format = process.env.LOG_FORMAT, level?: LogOptions['level']) {
  return format === 'json' ? inJson(level ?? 'info') : AS_TEXT
}

const AS_TEXT: ServeNotices = {
  configured(settings) {
    const changed = settings.join(' ') || 'nothing, all defaults apply'
    console.error(`configured: ${changed}; \`tributary config\` lists every setting`)
  },
  failed: (error) => console.error(describeCommandFailure(error)),
  uncaught: (error) => console.error('uncaught error, stopping:', error),
}

function inJson(level: LogOptions['level']): ServeNotices {
  const log = createLog({ level, format: 'json' })
  // An error that ends the process is printed at every level.
  const last = createLog({ level: 'error', format: 'json' })
  return {
    configured: (settings) => log.info({ settings }, 'configured'),
    failed: (error) => last.error({}, messagesOfFailure(error)),
    uncaught: (error) => last.error({ error }, 'uncaught error, stopping'),
  }
}

/** Writes Node's own warnings to the log; Node would print them as text. */
export function logWarnings(level: LogOptions['level']): void {
  const log = createLog({ level, format: 'json' })
  process.removeAllListeners('warning').on('warning', (error) => log.warn({ error }, 'Node warns'))
}
