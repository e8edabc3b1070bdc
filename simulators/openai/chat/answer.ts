// The chat completion as one JSON body, and the parts that the stream shares with it.
import type { Json } from '../../kernel/checks.ts'
import type { Exchange } from '../../kernel/exchange.ts'
import { answerId } from '../../kernel/identifiers.ts'
import type { Answer, ToolCall } from '../../model/answer.ts'

export interface ChatAnswer {
  answer: Answer
  id: string
  created: number
  model: string
  callIds: string[]
  choices: number
  /** The caller sent `functions` and reads `function_call`. */
  functions: boolean
}

const FINISH: Record<string, string> = {
  end: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  tools: 'tool_calls',
  filter: 'content_filter',
}

export function finishReason({ answer, functions }: ChatAnswer): string {
  if (functions && answer.stop === 'tools') return 'function_call'
  return FINISH[answer.stop] ?? answer.stop
}

export function chatAnswer(
  exchange: Exchange,
  answer: Answer,
  options: Pick<ChatAnswer, 'model' | 'choices' | 'functions'>,
): ChatAnswer {
  return {
    answer,
    id: answerId(exchange, 'chatcmpl-'),
    created: Math.floor(Date.now() / 1000),
    ...options,
    callIds: answer.calls.map(() => answerId(exchange, 'call_')),
  }
}

export function chatUsage({ answer, choices }: ChatAnswer): Json {
  const { input, cached, reason } = answer.tokens
  const output = answer.tokens.output * choices
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reason * choices,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

function toolCallEntry(call: ToolCall, id: string, args: string): Json {
  if (call.tool.freeform) {
    return { id, type: 'custom', custom: { name: call.tool.name, input: args } }
  }
  return { id, type: 'function', function: { name: call.tool.name, arguments: args } }
}

export function wholeChat(chat: ChatAnswer): Json {
  const { answer, id, created, model, callIds } = chat
  const message: Json = {
    role: 'assistant',
    content: answer.calls.length > 0 && answer.text === '' ? null : answer.text,
    refusal: null,
  }
  if (answer.reason !== '') message.reasoning_content = answer.reason
  const [first] = answer.calls
  if (chat.functions && first) {
    message.function_call = { name: first.tool.name, arguments: first.args }
  } else if (answer.calls.length > 0) {
    message.tool_calls = answer.calls.map((call, at) =>
      toolCallEntry(call, callIds[at] ?? '', call.args),
    )
  }
  const finish_reason = finishReason(chat)
  const choices = Array.from({ length: chat.choices }, (_, index) => {
    return { index, message: { ...message }, logprobs: null, finish_reason }
  })
  return { id, object: 'chat.completion', created, model, choices }
}
