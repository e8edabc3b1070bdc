/** The limit options that accounts and keys share. */

import type { Command } from 'commander'
import type { CallLimits } from '../../server/base/lib/kinds-and-states.ts'
import type { LimitsChange } from '../../server/money/accounts/manage-accounts.ts'
import { type None, noneToNull, orNone, whole } from './parse.ts'

export interface LimitOptions {
  readonly requestsPerMinute?: number | None
  readonly tokensPerMinute?: number | None
  readonly concurrentCalls?: number | None
}

export function addLimitOptions(command: Command): Command {
  return command
    .option('--requests-per-minute <n>', 'requests per minute, or none', orNone(whole))
    .option('--tokens-per-minute <n>', 'tokens per minute, or none', orNone(whole))
    .option('--concurrent-calls <n>', 'concurrent calls, or none', orNone(whole))
}

export function limitsChange(options: LimitOptions): LimitsChange {
  const { requestsPerMinute, tokensPerMinute, concurrentCalls } = options
  return {
    ...(requestsPerMinute === undefined
      ? {}
      : { requests_per_minute: noneToNull(requestsPerMinute) }),
    ...(tokensPerMinute === undefined ? {} : { tokens_per_minute: noneToNull(tokensPerMinute) }),
    ...(concurrentCalls === undefined ? {} : { concurrent_calls: noneToNull(concurrentCalls) }),
  }
}

export function describeLimits(limits: CallLimits): string {
  const parts = [
    ...(limits.requests_per_minute ? [`${limits.requests_per_minute} requests per minute`] : []),
    ...(limits.tokens_per_minute ? [`${limits.tokens_per_minute} tokens per minute`] : []),
    ...(limits.concurrent_calls ? [`${limits.concurrent_calls} concurrent calls`] : []),
  ]
  return parts.join(', ') || 'none'
}
