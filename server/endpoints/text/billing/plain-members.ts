/** Top-level members of text requests that refer to nothing outside the body. */

const EVERYWHERE = `model stream stream_options temperature top_p top_k metadata user service_tier
  speed inference_geo cache_control tools tool_choice parallel_tool_calls safety_identifier
  prompt_cache_key prompt_cache_options prompt_cache_retention max_tokens max_completion_tokens
  max_output_tokens n thinking enable_thinking reasoning reasoning_effort verbosity store`

const CHAT = `messages functions function_call response_format prediction stop seed logprobs
  frequency_penalty presence_penalty logit_bias top_logprobs best_of min_p repetition_penalty
  modalities audio guided_json`

const RESPONSES = `input instructions text include truncation background callback_url
  client_metadata previous_response_id max_tool_calls top_logprobs`

const MESSAGES = `messages system stop_sequences output_config output_format context_management
  safeguards`

function listNames(...texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => text.split(/\s+/)))
}

export const PLAIN_CHAT = listNames(EVERYWHERE, CHAT)
export const PLAIN_COMPLETIONS = listNames(EVERYWHERE, CHAT, 'prompt suffix echo')
export const PLAIN_RESPONSES = listNames(EVERYWHERE, RESPONSES)
export const PLAIN_MESSAGES = listNames(EVERYWHERE, MESSAGES)
export const PLAIN_EMBEDDINGS = listNames('model input dimensions encoding_format user')
export const PLAIN_MODERATIONS = listNames('model input')
