/** Reads the options for an answer's usage from the messages request. Pure. */

import { asString, member } from '../../../base/lib/json.ts'
import type { MessagesUsageOptions } from '../../dialects/messages/read-usage.ts'
import { readWriteLifetime } from '../../dialects/usage/write-lifetime.ts'

/** Tools beside which a container is free (docs/protocols/anthropic.md#tools-with-a-fee). */
const FREE_BESIDE = /^(?:web_search|web_fetch)_(\d{8})$/
const FREE_FROM = '20260209'

/** Returns functions, so that the request is searched only if the answer states nothing. */
export function readMessagesUsageOptions(
  value: Readonly<Record<string, unknown>>,
): MessagesUsageOptions {
  return {
    writeLifetime: () => readWriteLifetime(value) ?? '5m',
    isContainerFree: () => toList(value.tools).some(isFreeBeside),
  }
}

function isFreeBeside(tool: unknown): boolean {
  const version = FREE_BESIDE.exec(asString(member(tool, 'type')) ?? '')?.[1]
  return version !== undefined && version >= FREE_FROM
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
