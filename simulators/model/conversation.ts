// A request to a language model in a neutral form, so that one simulated model answers chat,
// messages and responses.

export interface Turn {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
  /** Set on an assistant turn that calls tools. */
  calls?: boolean
}

export interface OfferedTool {
  name: string
  /** Freeform tools take text instead of JSON. */
  freeform?: boolean
  namespace?: string
}

export interface Conversation {
  turns: Turn[]
  tools: OfferedTool[]
  mayCallTools: boolean
  /** The most calls that one answer can carry; unlimited if absent. */
  maxCalls?: number
  maxTokens?: number | undefined
  stop: string[]
}

/** Returns the messages since the model last finished: directives of earlier turns do not apply. */
export function currentTurn(turns: Turn[]): Turn[] {
  const before = turns.slice(0, -1)
  const last = before.findLastIndex((turn) => turn.role === 'assistant' && !turn.calls)
  return turns.slice(last + 1)
}

/** Returns the text in which directives count: users' messages in the current turn. */
export function scriptText(turns: Turn[]): string {
  return currentTurn(turns)
    .filter((turn) => turn.role === 'user')
    .map((turn) => turn.text)
    .join('\n')
}

export function inputText(turns: Turn[]): string {
  return turns.map((turn) => turn.text).join('')
}
