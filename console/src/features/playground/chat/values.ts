/** A conversation: its parameters, its turns, and the next message. */

export const DIALECTS = {
  completions: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
} as const

export type Dialect = keyof typeof DIALECTS

export interface Reply {
  readonly text: string
  readonly reasoning: string
  readonly usage?: { readonly input: number; readonly output: number; readonly cached: number }
  readonly firstMs?: number
  readonly isCutOff?: boolean
}

export interface PlaygroundTurn {
  readonly prompt: string
  readonly reply?: Reply
}

export interface ChatValues {
  readonly dialect: Dialect
  readonly system: string
  /** Empty for the model's default. */
  readonly temperature: number | string
  readonly maxTokens: number | string
  readonly turns: readonly PlaygroundTurn[]
  readonly draft: string
}
