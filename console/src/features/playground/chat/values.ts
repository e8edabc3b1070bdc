/** A conversation: how it is asked for, what was said, and what is to be said next. */

export const DIALECTS = {
  completions: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
} as const

export type Dialect = keyof typeof DIALECTS

export interface Reply {
  readonly text: string
  readonly thought: string
  readonly usage?: { readonly input: number; readonly output: number; readonly cached: number }
  readonly firstMs?: number
  readonly isCutOff?: boolean
}

export interface PlaygroundTurn {
  readonly asked: string
  readonly reply?: Reply
}

export interface ChatValues {
  readonly dialect: Dialect
  readonly system: string
  /** An empty text: the model's own. */
  readonly temperature: number | string
  readonly maxTokens: number | string
  readonly turns: readonly PlaygroundTurn[]
  readonly draft: string
}
