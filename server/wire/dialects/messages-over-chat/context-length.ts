/**
 * Rewords a chat vendor's context-length error in the words of the messages format, by which
 * callers recognize it and shorten the conversation.
 */
const CODE = 'context_length_exceeded'
const WORDS =
  /(?:maximum )?context (?:window|length)|input token count|prompt is too long|max message tokens/i
const MAX_TOKENS =
  /(?:maximum context length|tokens allowed|context window|context length)[^0-9]{0,40}(\d{3,9})/i
const REQUESTED =
  /(?:resulted in|requested|contains?|has|is)[^0-9.]{0,30}(\d{3,9}) (?:input )?tokens/gi

/** Returns the reworded message; undefined for any other refusal. */
export function rewordContextLength(refusal: {
  readonly message?: string | undefined
  readonly code?: string | undefined
}): string | undefined {
  const { message = '', code } = refusal
  if (code !== CODE && !WORDS.test(message)) return undefined
  const maxTokens = MAX_TOKENS.exec(message)?.[1]
  const requested = [...message.matchAll(REQUESTED)]
    .map(([, tokens]) => tokens)
    .find((n) => n !== maxTokens)
  if (maxTokens && requested)
    return `prompt is too long: ${requested} tokens > ${maxTokens} maximum`
  return message.startsWith('prompt is too long') ? message : `prompt is too long: ${message}`
}
