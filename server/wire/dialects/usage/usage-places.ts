/** The places of usage in streams of the dialects of text. */
import { isObject, member } from '../../../base/lib/json.ts'
import type { UsagePlace } from './state-cost.ts'

/** Some vendors state the usage so far in every chunk: the last has a reason, or no choice. */
export const CHAT_USAGE: UsagePlace = {
  path: ['usage'],
  option: ['stream_options', 'include_usage'],
  kindOf({ usage, choices }) {
    const list = Array.isArray(choices) ? choices : []
    const hasEnded = list.every((choice) => typeof member(choice, 'finish_reason') === 'string')
    if (!hasEnded) return 'output'
    return isObject(usage) ? 'last' : 'other'
  },
}

export const MESSAGES_USAGE: UsagePlace = {
  path: ['usage'],
  kindOf({ type }) {
    if (type === 'message_delta') return 'last'
    return typeof type === 'string' && type.startsWith('content_block') ? 'output' : 'other'
  },
}

const ENDINGS: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
])

export const RESPONSES_USAGE: UsagePlace = {
  path: ['response', 'usage'],
  kindOf({ type }) {
    if (ENDINGS.has(type)) return 'last'
    return typeof type === 'string' && type.startsWith('response.') ? 'output' : 'other'
  },
}
