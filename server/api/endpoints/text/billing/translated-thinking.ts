/** The thinking that a translated request asks for: by the members that translators read. */
import { asString, type JsonObject, member } from '../../../../base/lib/json.ts'
import type { RequestedDimensions } from '../../../../work/pipeline/price/dimensions.ts'

type Thinking = RequestedDimensions['translatedThinking']

/** Reads a chat request: the switch, then the effort. */
export function readChatThinking({ thinking, reasoning_effort: effort }: JsonObject): Thinking {
  const type = member(thinking, 'type')
  if (type === 'disabled') return 'off'
  return type === 'enabled' || type === 'adaptive' ? 'on' : readEffort(effort)
}

/** Reads a messages request, whose translators take any other word for a switch that is on. */
export function readMessagesThinking({ thinking }: JsonObject): Thinking {
  const type = member(thinking, 'type')
  if (type === undefined) return undefined
  return type === 'disabled' ? 'off' : 'on'
}

export function readResponsesThinking({ reasoning }: JsonObject): Thinking {
  return readEffort(member(reasoning, 'effort'))
}

const EFFORTS: ReadonlySet<unknown> = new Set(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

function readEffort(effort: unknown): Thinking {
  if (asString(effort) === 'none') return 'off'
  return EFFORTS.has(effort) ? 'on' : undefined
}
