/** Members of text requests that refer to nothing outside the body. */

const EVERYWHERE = `model stream stream_options temperature top_p top_k metadata user service_tier
  speed inference_geo cache_control tools tool_choice parallel_tool_calls safety_identifier
  prompt_cache_key prompt_cache_options prompt_cache_retention max_tokens max_completion_tokens
  max_output_tokens n thinking enable_thinking reasoning reasoning_effort verbosity store
  provider route transforms session_id request_id user_id trace usage chat_template_kwargs`

const CHAT = `messages functions function_call response_format prediction stop seed logprobs
  frequency_penalty presence_penalty logit_bias top_logprobs best_of min_p repetition_penalty
  modalities audio guided_json`

const RESPONSES = `input instructions text include truncation background callback_url
  client_metadata previous_response_id max_tool_calls top_logprobs`

const MESSAGES = `messages system stop_sequences output_config output_format context_management
  safeguards`

/** Marks that any message, item, part or block may have. */
const MARKS = 'type cache_control prompt_cache_breakpoint status'

/** Written into messages by vendors of the dialect and their routers, which read them again. */
const CHAT_MESSAGE = `role content name refusal annotations audio images tool_calls tool_call_id
  function_call tool_name reasoning reasoning_content reasoning_details thinking thinking_blocks
  signature prefix partial index phase`

const PART = 'text refusal annotations citations logprobs thinking signature summary'

const ITEM = `id role content name phase call_id namespace caller async end_turn summary
  encrypted_content arguments input output action actions operation environment
  max_output_length execution tools result results queries code outputs error server_label
  approval_request_id approve reason pending_safety_checks acknowledged_safety_checks
  background output_format quality revised_prompt size`

const MESSAGE = 'role content name id model stop_reason stop_sequence stop_details usage'

const BLOCK = `text citations thinking signature data id name input caller tool_use_id
  toolset_name content is_error source title context url page_age encrypted_content tool_name
  transformations`

function listNames(...texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => text.split(/\s+/)))
}

const CONTENTS = `contents systemInstruction system_instruction tools toolConfig tool_config
  generationConfig generation_config safetySettings safety_settings serviceTier service_tier labels
  model stream alt content requests`

export const PLAIN_CHAT = listNames(EVERYWHERE, CHAT)
export const PLAIN_COMPLETIONS = listNames(EVERYWHERE, CHAT, 'prompt suffix echo')
export const PLAIN_RESPONSES = listNames(EVERYWHERE, RESPONSES)
export const PLAIN_MESSAGES = listNames(EVERYWHERE, MESSAGES)
export const PLAIN_EMBEDDINGS = listNames('model input dimensions encoding_format user')
export const PLAIN_CONTENTS = listNames(CONTENTS)
export const PLAIN_MODERATIONS = listNames('model input')

export const PLAIN_CHAT_MESSAGE = listNames(MARKS, CHAT_MESSAGE)
export const PLAIN_CHAT_CALL = listNames(MARKS, 'id index function custom extra_content')
export const PLAIN_PART = listNames(MARKS, PART)
export const PLAIN_ITEM = listNames(MARKS, ITEM)
export const PLAIN_MESSAGE = listNames(MARKS, MESSAGE)
export const PLAIN_BLOCK = listNames(MARKS, BLOCK)
