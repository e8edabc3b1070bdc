// The deviations of chat vendors, from their documentation: where the key is, how usage is counted,
// what is refused, and how refusals look.
import { isObject, type Json, objects } from '../kernel/checks.ts'
import { type Profile, type RefusedField, refusing, type WireRefusal } from './profile.ts'

const same = (usage: Json): Json => usage

/** OpenAI's form: everything in `error`. */
const nested = (status: number, code: string, message: string, type = code): WireRefusal => ({
  status,
  body: { error: { message, type, param: null, code } },
})

const limited = (refusal: WireRefusal, seconds: number): WireRefusal => ({
  ...refusal,
  headers: { 'retry-after': String(seconds) },
})

/** Forms of the answer that some vendors do not have. */
const noSchema = (code: string): RefusedField => ({
  isIn: ({ response_format: format }) => isObject(format) && format.type === 'json_schema',
  status: 400,
  code,
  message: 'response_format json_schema is not supported by this model',
})

const onlyAutoTools = (code: string): RefusedField => ({
  isIn: ({ tool_choice: choice }) =>
    choice !== undefined && choice !== null && choice !== 'auto' && choice !== 'none',
  status: 400,
  code,
  message: 'tool_choice only supports auto',
})

const noImages: RefusedField = {
  isIn: ({ messages }) =>
    objects(messages).some(({ content }) =>
      objects(content).some(({ type }) => type === 'image_url'),
    ),
  status: 400,
  code: 'invalid_request_error',
  message: 'messages: unknown variant `image_url`, expected `text`',
}

const DEEPSEEK: Profile = {
  name: 'deepseek',
  path: '',
  auth: 'bearer',
  reasoning: 'reasoning_content',
  usage: ({ prompt_tokens_details: _, ...usage }, { input, cached }) => ({
    ...usage,
    prompt_cache_hit_tokens: cached,
    prompt_cache_miss_tokens: input - cached,
  }),
  streamUsage: 'finish',
  refuses: [noImages, noSchema('invalid_request_error')],
  wrongKey: nested(401, 'invalid_request_error', 'Authentication Fails', 'authentication_error'),
  outOfMoney: nested(402, 'invalid_request_error', 'Insufficient Balance', 'unknown_error'),
  rateLimited: nested(429, 'rate_limit_reached', 'Rate limit reached'),
}

const QWEN: Profile = {
  name: 'alibaba',
  path: '/compatible-mode/v1',
  auth: 'bearer',
  reasoning: 'reasoning_content',
  usage: same,
  streamUsage: 'asked',
  refuses: [],
  wrongKey: nested(401, 'invalid_api_key', 'Incorrect API key provided.'),
  outOfMoney: nested(
    400,
    'Arrearage',
    'Access denied, please make sure your account is in good standing.',
  ),
  rateLimited: nested(429, 'limit_requests', 'You exceeded your current requests list.'),
}

const KIMI: Profile = {
  name: 'moonshot',
  path: '/v1',
  auth: 'bearer',
  reasoning: 'reasoning_content',
  usage: ({ prompt_tokens_details: _, ...usage }, { cached }) => ({
    ...usage,
    cached_tokens: cached,
  }),
  streamUsage: 'choice',
  refuses: [refusing('parallel_tool_calls'), refusing('max_tokens')],
  wrongKey: {
    status: 401,
    body: { error: { message: 'Invalid Authentication', type: 'invalid_authentication_error' } },
  },
  outOfMoney: {
    status: 429,
    body: {
      error: {
        message: 'Your account is not active: your current balance is not enough',
        type: 'exceeded_current_quota_error',
      },
    },
  },
  rateLimited: {
    status: 429,
    body: {
      error: { message: 'reached max request: 3 RPM', type: 'rate_limit_reached_error' },
    },
  },
}

/** The code is a number as text; an empty balance is a 429, as a rate limit is. */
const zhipu = (status: number, code: string, message: string): WireRefusal => ({
  status,
  body: { error: { code, message } },
})

const ZHIPU: Profile = {
  name: 'zhipu',
  path: '/api/paas/v4',
  auth: 'bearer',
  reasoning: 'reasoning_content',
  usage: same,
  streamUsage: 'finish',
  refuses: [refusing('max_completion_tokens'), noSchema('1210'), onlyAutoTools('1210')],
  error: ({ code, message }) => ({ error: { code, message } }),
  wrongKey: zhipu(401, '1000', '身份验证失败'),
  outOfMoney: zhipu(429, '1113', '余额不足或无可用资源包,请充值。'),
  rateLimited: zhipu(429, '1302', '您的账户已达到速率限制'),
}

/** `error` is a text, with the code beside it. */
const xai = (status: number, code: string, error: string): WireRefusal => ({
  status,
  body: { code, error },
})

const XAI: Profile = {
  name: 'xai',
  path: '/v1',
  auth: 'bearer',
  reasoning: 'reasoning_content',
  // Reasoning is not in the completion's tokens, but in the total.
  usage: (usage, { input, output, reasoning }) => ({
    ...usage,
    completion_tokens: output - reasoning,
    total_tokens: input + output,
  }),
  streamUsage: 'asked',
  refuses: [refusing('stop'), refusing('presence_penalty'), refusing('frequency_penalty')],
  error: ({ code, message }) => ({ code, error: message }),
  wrongKey: xai(
    400,
    'Client specified an invalid argument',
    'Incorrect API key provided: si***ey. You can obtain an API key from the console.',
  ),
  outOfMoney: xai(
    403,
    'The caller does not have permission to execute the specified operation',
    'Your team has either used all available credits or reached its monthly spending limit.',
  ),
  rateLimited: xai(429, 'Some resource has been exhausted', 'Too many requests'),
}

/** Everything at the top. */
const mistral = (status: number, type: string, code: string | null, message: string) => ({
  status,
  body: { object: 'error', message, type, param: null, code },
})

/** Fields of OpenAI's that Mistral's schema does not have. */
const NOT_MISTRAL = 'max_completion_tokens seed user logit_bias store logprobs metadata'.split(' ')

const MISTRAL: Profile = {
  name: 'mistral',
  path: '/v1',
  auth: 'bearer',
  reasoning: 'list',
  usage: ({ prompt_tokens_details: _, ...usage }, { cached }) => ({
    ...usage,
    num_cached_tokens: cached,
  }),
  streamUsage: 'finish',
  refuses: [
    ...NOT_MISTRAL.map((field) => refusing(field, { status: 422, code: 'extra_forbidden' })),
    {
      isIn: ({ messages }) =>
        objects(messages).some(
          ({ role }, at, all) => role === 'user' && all[at - 1]?.role === 'tool',
        ),
      status: 400,
      code: '3230',
      message: "Unexpected role 'user' after role 'tool'",
    },
  ],
  error: ({ code, message }) => ({ object: 'error', message, type: code, param: null, code }),
  wrongKey: { status: 401, body: { detail: 'Unauthorized' } },
  outOfMoney: mistral(402, 'payment_required', null, 'Payment required'),
  rateLimited: mistral(429, 'rate_limited', '1300', 'Rate limit exceeded'),
}

const GROQ: Profile = {
  name: 'groq',
  path: '/openai/v1',
  auth: 'bearer',
  reasoning: 'reasoning',
  usage: same,
  streamUsage: 'x_groq',
  refuses: [
    refusing('logprobs'),
    refusing('logit_bias'),
    {
      isIn: ({ messages }) => objects(messages).some(({ name }) => name !== undefined),
      status: 400,
      code: 'invalid_request_error',
      message: "property 'messages.0.name' is unsupported",
    },
  ],
  wrongKey: nested(401, 'invalid_api_key', 'Invalid API Key'),
  outOfMoney: nested(400, 'blocked_api_access', 'API access is blocked: a spend limit is reached.'),
  rateLimited: limited(nested(429, 'rate_limit_exceeded', 'Rate limit reached for model'), 7),
}

/** No `error` around it. */
const siliconflow = (status: number, code: number, message: string): WireRefusal => ({
  status,
  body: { code, message, data: null },
})

const SILICONFLOW: Profile = {
  name: 'siliconflow',
  path: '/v1',
  auth: 'bearer',
  reasoning: 'reasoning_content',
  usage: same,
  streamUsage: 'finish',
  refuses: [noSchema('20015')],
  error: ({ message }) => ({ code: 20015, message, data: null }),
  // A bare JSON text.
  wrongKey: { status: 401, body: 'Invalid token' },
  outOfMoney: siliconflow(403, 30001, 'Sorry, your account balance is insufficient'),
  rateLimited: siliconflow(429, 50603, 'Request was rejected due to rate limiting.'),
}

const openrouter = (code: number, message: string): WireRefusal => ({
  status: code,
  body: { error: { code, message, metadata: {} }, user_id: 'user_sim' },
})

const OPENROUTER: Profile = {
  name: 'openrouter',
  path: '/api/v1',
  auth: 'bearer',
  reasoning: 'reasoning',
  usage: (usage) => ({ ...usage, cost: 0.000123, is_byok: false }),
  streamUsage: 'asked',
  comment: ': OPENROUTER PROCESSING\n\n',
  refuses: [],
  wrongKey: openrouter(401, 'No auth credentials found'),
  outOfMoney: openrouter(402, 'Insufficient credits. Add more using the credits page.'),
  rateLimited: openrouter(429, 'Rate limit exceeded'),
}

const AZURE: Profile = {
  name: 'azure',
  path: '/openai/v1',
  auth: 'api-key',
  reasoning: 'reasoning_content',
  usage: same,
  streamUsage: 'asked',
  opening: {
    id: '',
    object: '',
    created: 0,
    model: '',
    choices: [],
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
  },
  refuses: [refusing('max_tokens', { code: 'unsupported_parameter' })],
  wrongKey: {
    status: 401,
    body: { error: { code: '401', message: 'Access denied due to invalid subscription key.' } },
  },
  outOfMoney: nested(429, 'insufficient_quota', 'You exceeded your current quota.'),
  rateLimited: limited(nested(429, 'RateLimitReached', 'Retry after 11 seconds.', '429'), 11),
}

const OPENAI: Profile = {
  ...AZURE,
  name: 'openai',
  path: '/v1',
  auth: 'bearer',
  wrongKey: nested(401, 'invalid_api_key', 'Incorrect API key provided: sim.'),
  rateLimited: limited(nested(429, 'rate_limit_exceeded', 'Rate limit reached', 'requests'), 20),
}

const MODELARK: Profile = {
  name: 'modelark',
  path: '/api/v3',
  auth: 'bearer',
  reasoning: 'reasoning_content',
  usage: same,
  streamUsage: 'asked',
  refuses: [],
  wrongKey: nested(401, 'AuthenticationError', 'the API key is missing or invalid', 'Unauthorized'),
  outOfMoney: nested(403, 'AccountOverdueError', 'The account has an overdue bill.', 'Forbidden'),
  rateLimited: nested(429, 'RateLimitExceeded.EndpointRPMExceeded', 'RPM limit', 'TooManyRequests'),
}

/** Local servers, without keys and without bills. */
const local = (name: string, reasoning: Profile['reasoning'], more: Partial<Profile>): Profile => ({
  name,
  path: '/v1',
  auth: 'none',
  reasoning,
  usage: same,
  streamUsage: 'asked',
  refuses: [],
  wrongKey: { status: 401, body: { error: 'Unauthorized' } },
  ...more,
})

/** No count of cached tokens. */
const uncached = ({ prompt_tokens_details: _, ...usage }: Json): Json => usage

export const PROFILES: readonly Profile[] = [
  OPENAI,
  AZURE,
  DEEPSEEK,
  QWEN,
  KIMI,
  ZHIPU,
  XAI,
  MISTRAL,
  GROQ,
  SILICONFLOW,
  OPENROUTER,
  MODELARK,
  local('ollama', 'reasoning', { usage: uncached, refuses: [refusing('parallel_tool_calls')] }),
  local('vllm', 'reasoning', {}),
  local('sglang', 'reasoning_content', {}),
]
