/** Translates a request of the completions dialect: its prompt becomes a user message. */
import type { JsonObject } from '../../../base/lib/json.ts'
import { InvalidRequest } from '../invalid-request.ts'

/** The dialect's own limit for a request that sets none. */
export const COMPLETION_TOKENS_DEFAULT = 16

/** Members that a chat cannot have, with the values that mean "off". */
const NOT_IN_CHATS: ReadonlyMap<string, readonly unknown[]> = new Map([
  ['suffix', ['']],
  ['echo', [false]],
  ['best_of', [1]],
  ['logprobs', [false]],
])
/** Members of chats whose effect a completion cannot show. */
const NOT_IN_COMPLETIONS = ['messages', 'tools', 'functions', 'modalities', 'audio']

const REPLACED: ReadonlySet<string> = new Set(['prompt', 'max_tokens', ...NOT_IN_CHATS.keys()])

/** Throws InvalidRequest for anything that a chat cannot express; everything else is kept. */
export function translateCompletionRequest(
  request: JsonObject,
  maxTokensField: 'max_tokens' | 'max_completion_tokens',
): JsonObject {
  const { max_tokens: maxTokens } = request
  for (const [name, off] of NOT_IN_CHATS) {
    const value = request[name]
    if (value === undefined || value === null || off.includes(value)) continue
    throw new InvalidRequest(name, 'not offered here: completions are served by chat models')
  }
  for (const name of NOT_IN_COMPLETIONS) {
    if (request[name] === undefined || request[name] === null) continue
    throw new InvalidRequest(name, 'not a member of completions: send a chat completion')
  }
  const kept = Object.entries(request).filter(([name]) => !REPLACED.has(name))
  return {
    ...Object.fromEntries(kept),
    messages: [{ role: 'user', content: readPrompt(request) }],
    [maxTokensField]: maxTokens ?? COMPLETION_TOKENS_DEFAULT,
  }
}

function readPrompt({ prompt }: JsonObject): string {
  const [first, ...others] = Array.isArray(prompt) ? prompt : [prompt]
  if (typeof first !== 'string') {
    throw new InvalidRequest('prompt', 'must be a text: lists of tokens are not offered here')
  }
  if (others.length > 0) {
    throw new InvalidRequest('prompt', 'must be one text: send a request for each prompt')
  }
  if (first === '') throw new InvalidRequest('prompt', 'must not be empty')
  return first
}
