/**
 * Recognises a vendor's refusal of a conversation beyond the model's window, and rewords it in the
 * words of the messages format, by which callers shorten the conversation or their output limit.
 */
export const CONTEXT_LENGTH_CODE = 'context_length_exceeded'

const WORDS = new RegExp(
  [
    'context (?:window|length)|input token count|prompt is too long|max message tokens',
    'exceeds the available context size|tokens in request more than max tokens allowed',
    // The words of other vendors (docs/protocols/openai.md#errors-in-answers).
    'exceeded model token limit|range of input length should be',
    'prompt (?:exceeds max length|\u8d85\u957f)|maximum prompt length',
    'must be less than max_seq_len|longer than the maximum model length',
  ].join('|'),
  'i',
)
const MAX_TOKENS = new RegExp(
  `(?:${[
    'maximum context length|tokens allowed|context window|context length|model token limit',
    'maximum prompt length|maximum model length|max_seq_len|input length should be|supports up to',
  ].join('|')})[^0-9]{0,40}(?:1, )?(\\d{3,9})`,
  'i',
)
/** The sum of the prompt and of what is reserved for the answer. */
const SUM = /requested (?:about )?(\d{3,9}) tokens/i
const INPUT = new RegExp(
  [
    '(?:resulted in|contains?|has|is)[^0-9.]{0,30}(\\d{3,9}) (?:input )?tokens',
    '(?:token count is|requested:|prompt_tokens \\(|too long:|length(?: of)?) ?(\\d{3,9})',
  ].join('|'),
  'gi',
)
/** The tokens that the request reserves for the answer. */
const RESERVED = new RegExp(
  [
    '(\\d{1,9}) (?:in|for) (?:the|your) (?:completion|output)',
    'requested (\\d{1,9}) output tokens|too large: (\\d{1,9})',
  ].join('|'),
  'i',
)

interface Refusal {
  readonly message?: string | undefined
  readonly code?: string | undefined
}

export function isContextLength({ message = '', code }: Refusal): boolean {
  return code === CONTEXT_LENGTH_CODE || WORDS.test(message)
}

/** Returns the reworded message; undefined for any other refusal. */
export function rewordContextLength(refusal: Refusal): string | undefined {
  if (!isContextLength(refusal)) return undefined
  const { message = '' } = refusal
  const max = MAX_TOKENS.exec(message)?.[1]
  const reserved = RESERVED.exec(message)?.slice(1).find(Boolean) ?? '0'
  const sum = SUM.exec(message)?.[1]
  const inputs = [...message.matchAll(INPUT)].map(([, counted, named]) => counted ?? named)
  const requested = sum ?? inputs.find((tokens) => tokens !== max && tokens !== reserved)
  if (!max || !requested)
    return message.startsWith('prompt is too long') ? message : `prompt is too long: ${message}`
  const input = sum ? Number(sum) - Number(reserved) : Number(requested)
  // A prompt that fits by itself needs a smaller limit of the answer, and not to be shortened.
  return reserved === '0' || input > Number(max)
    ? `prompt is too long: ${requested} tokens > ${max} maximum`
    : `input length and \`max_tokens\` exceed context limit: ${input} + ${reserved} > ${max}`
}
