// A refusal before any output. Its usage is shown in any case; the category decides the bill.
import type { Json } from '../kernel/checks.ts'
import { text } from '../kernel/scenario-names.ts'
import { type Step, step } from './stream.ts'

const BILLED = ['bio', 'frontier_llm', 'reasoning_extraction']
/** The output that the vendor counts although there is none. */
const TOKENS = 5

export const DECLINED = text(
  'declined',
  'messages: refused before any output, in this category (null: in none)',
)

interface Declined {
  ending: Json
  usage: Json
  units: Record<string, number>
}

export function declined(category: string, usage: Json): Declined {
  const counted = { ...usage, output_tokens: TOKENS }
  const isBilled = BILLED.includes(category)
  const named = category === 'null' ? null : category
  return {
    ending: {
      stop_reason: 'refusal',
      stop_sequence: null,
      stop_details: { type: 'refusal', category: named, explanation: 'Not this.' },
    },
    usage: counted,
    units: isBilled ? unitsOf(counted) : { input_token: 0, output_token: 0 },
  }
}

function unitsOf(usage: Json): Record<string, number> {
  const cached = Number(usage.cache_read_input_tokens)
  const written = Number(usage.cache_creation_input_tokens)
  return {
    input_token: Number(usage.input_tokens),
    ...(cached > 0 ? { cached_input_token: cached } : {}),
    ...(written > 0 ? { cache_write_token: written } : {}),
    output_token: TOKENS,
  }
}

/** Returns the events of a refusal, without a block of content. */
export function declinedSteps(message: Json, ending: Json, usage: Json): Step[] {
  const open = { stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  return [
    step({ type: 'message_start', message: { ...message, ...open } }),
    step({ type: 'ping' }),
    step({ type: 'message_delta', delta: ending, usage }),
    step({ type: 'message_stop' }),
  ]
}
