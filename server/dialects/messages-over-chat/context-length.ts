/**
 * A conversation that no longer fits. Callers of the messages format shorten it by themselves when
 * they recognise the words, so a chat vendor's words are put into the ones they look for.
 */
const CODE = 'context_length_exceeded'
const WORDS =
  /maximum context length|context (?:window|length)|prompt is too long|max message tokens/i
const MOST = /(?:maximum context length|context window|context length)[^0-9]{0,40}(\d{3,9})/i
const ASKED = /(?:resulted in|requested|contains?|has|is)[^0-9.]{0,30}(\d{3,9}) (?:input )?tokens/gi

/** The message in the words callers know, or undefined when the refusal is about something else. */
export function rewordContextLength(refusal: {
  readonly message?: string | undefined
  readonly code?: string | undefined
}): string | undefined {
  const { message = '', code } = refusal
  if (code !== CODE && !WORDS.test(message)) return undefined
  const most = MOST.exec(message)?.[1]
  const asked = [...message.matchAll(ASKED)].map(([, tokens]) => tokens).find((n) => n !== most)
  if (most && asked) return `prompt is too long: ${asked} tokens > ${most} maximum`
  return message.startsWith('prompt is too long') ? message : `prompt is too long: ${message}`
}
