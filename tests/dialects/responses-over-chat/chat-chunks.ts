/** Builds chat streams as an upstream would send them. */

export function chunk(delta: object, more: object = {}): string {
  const choice = { index: 0, delta, finish_reason: null, ...more }
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [choice] })}\n\n`
}

export const text = (content: string) => chunk({ content })
export const thought = (reasoning_content: string) => chunk({ reasoning_content })
export const finish = (finish_reason: string) => chunk({}, { finish_reason })
export const DONE = 'data: [DONE]\n\n'

export function callStart(index: number, id: string, name: string, args = ''): string {
  return chunk({
    tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }],
  })
}

export function callPiece(index: number, args: string): string {
  return chunk({ tool_calls: [{ index, function: { arguments: args } }] })
}

export function usage(prompt: number, completion: number, details: object = {}): string {
  const counts = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  }
  return `data: ${JSON.stringify({ id: 'c', choices: [], usage: { ...counts, ...details } })}\n\n`
}
