// OpenAI, below `/openai/v1`.
import type { Json } from '../kernel/checks.ts'
import type { Exchange, Reply, Vendor } from '../kernel/exchange.ts'
import type { Platform } from '../kernel/platform.ts'
import { oddityNames } from '../kernel/scenario.ts'
import { speechRoute } from './audio/speech.ts'
import { transcriptionRoutes } from './audio/transcription.ts'
import { chatRoute } from './chat/endpoint.ts'
import { CHAT_STREAM_ODDITIES, ENDINGS } from './chat/oddities.ts'
import { OPENAI_CHAT_RULES } from './chat/request.ts'
import { WHOLE_ONLY_ODDITIES } from './chat/whole-oddities.ts'
import { embeddingsRoute } from './embeddings.ts'
import { invalid, openaiError, openaiFailure, rateLimits } from './errors.ts'
import { imagesRoutes } from './images.ts'
import { modelList, modelRoutes, unknownModel } from './models.ts'
import { moderationsRoute } from './moderations.ts'
import { BACKGROUND_SCENARIOS } from './responses/background.ts'
import { responsesRoutes } from './responses/endpoint.ts'
import { RESPONSE_ODDITIES } from './responses/oddities.ts'
import { RESPONSES_KEYS } from './responses/request.ts'

export interface OpenaiOptions {
  keys: string[]
  /** In addition to all names that begin with `sim-`. */
  models: string[]
}

export const OPENAI_DEFAULTS: OpenaiOptions = {
  keys: ['', '-2', '-3', '-4'].map((account) => `sim-openai-key${account}`),
  models: [
    'sim-chat',
    'sim-chat-mini',
    'sim-chat-only',
    'sim-reasoner',
    'sim-embedding',
    'sim-moderation',
    'sim-moderation-tokens',
    'sim-image',
    'sim-dall-e',
    'sim-tts',
    'sim-tts-tokens',
    'sim-whisper',
    'sim-whisper-tokens',
  ],
}

/** A model that the Responses API does not offer. */
const CHAT_ONLY = 'sim-chat-only'

const ODDITIES = oddityNames({
  ...CHAT_STREAM_ODDITIES,
  ...WHOLE_ONLY_ODDITIES,
  ...ENDINGS,
  ...RESPONSE_ODDITIES,
})

export function openai(options: OpenaiOptions, platform: Platform): Vendor {
  const models = modelList(options.models, 'simulators')
  const checkModel = (model: string, json: Json) => {
    if (!models.has(model)) throw unknownModel(model)
    if (model === 'sim-reasoner') refuseForReasoners(json)
  }
  const headers = (exchange: Exchange) => (exchange.fast ? {} : rateLimits(9999))
  return {
    name: 'openai',
    prefix: '/openai/v1',
    requestIdHeader: 'x-request-id',
    scenarios: [...ODDITIES, ...BACKGROUND_SCENARIOS],
    routes: [
      chatRoute({ rules: OPENAI_CHAT_RULES, checkModel, errorBody: openaiError, headers }),
      embeddingsRoute({ strict: true, dimensions: 64, checkModel, headers }),
      ...responsesRoutes({
        keys: RESPONSES_KEYS,
        checkModel: (model, json) => {
          checkModel(model, json)
          if (model === CHAT_ONLY) throw unknownModel(model)
        },
        check: () => {},
        errorBody: openaiError,
        headers,
        extras: () => ({}),
        closing: [],
        background: platform,
      }),
      moderationsRoute({ checkModel, headers }),
      ...imagesRoutes(models, platform),
      speechRoute(models),
      ...transcriptionRoutes(models),
      ...modelRoutes(models),
    ],
    authenticate: bearer(options.keys),
    failure: openaiFailure,
    malformed: (exchange) => openaiFailure(exchange, { status: 400, message: NOT_JSON }),
    notFound: (exchange) =>
      openaiFailure(exchange, {
        status: 404,
        code: 'unknown_url',
        message: `Invalid URL (${exchange.request.method} /v1${exchange.path})`,
      }),
  }
}

const NOT_JSON =
  'We could not parse the JSON body of your request. (HINT: This likely means you ' +
  "aren't using your HTTP library correctly.)"

/** Reasoning models refuse the old field and any sampling parameters, as gpt-5 does. */
function refuseForReasoners(json: Json): void {
  if (json.max_tokens !== undefined) {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. " +
      "Use 'max_completion_tokens' instead."
    throw invalid('max_tokens', 'unsupported_parameter', message)
  }
  if (json.temperature !== undefined && json.temperature !== 1) {
    const message = "Unsupported value: 'temperature' does not support this value with this model."
    throw invalid('temperature', 'unsupported_value', message)
  }
}

function bearer(keys: string[]): (exchange: Exchange) => Reply | undefined {
  const accepted = new Set(keys.map((key) => `Bearer ${key}`))
  return (exchange) => {
    const { authorization } = exchange.request.headers
    if (authorization !== undefined && accepted.has(authorization)) return undefined
    const message =
      authorization === undefined
        ? "You didn't provide an API key. You need to provide it in an Authorization header."
        : `Incorrect API key provided: ${masked(authorization)}.`
    return exchange.vendor.failure(exchange, { status: 401, message })
  }
}

const masked = (header: string): string => `${header.replace(/^Bearer /, '').slice(0, 3)}***`
