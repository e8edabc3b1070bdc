// Volcengine ARK, below `/ark/api/v3`: OpenAI's dialects with its own errors and extras; it accepts
// unknown fields.
import { isObject, type Json, objects, text } from '../kernel/checks.ts'
import { type Exchange, keyedVendor, Refused, type Vendor } from '../kernel/exchange.ts'
import { chatRoute } from '../openai/chat/endpoint.ts'
import type { ChatRules } from '../openai/chat/request.ts'
import { embeddingsRoute } from '../openai/embeddings.ts'
import { modelList, modelRoutes, unknownModel } from '../openai/models.ts'
import { responsesRoutes } from '../openai/responses/endpoint.ts'
import { arkErrorBody, arkFailure } from './errors.ts'

export interface ArkOptions {
  keys: string[]
  /** In addition to all names that begin with `sim-`. */
  models: string[]
}

export const ARK_DEFAULTS: ArkOptions = {
  keys: ['sim-ark-key'],
  models: ['sim-ark-chat', 'sim-ark-embedding'],
}

const RULES: ChatRules = {
  roles: ['system', 'user', 'assistant', 'tool'],
  parts: ['text', 'image_url', 'video_url', 'input_audio'],
  efforts: ['minimal', 'low', 'medium', 'high', 'max'],
}

/** Built-in tools require an opt-in header. */
const OPT_IN: Record<string, string> = {
  web_search: 'ark-beta-web-search',
  mcp: 'ark-beta-mcp',
  knowledge_search: 'ark-beta-knowledge-search',
  image_process: 'ark-beta-image-process',
  doubao_app: 'ark-beta-doubao-app',
}

export function ark(options: ArkOptions): Vendor {
  const models = modelList(options.models, 'volcengine')
  const checkModel = (model: string, json: Json) => {
    if (!models.has(model)) throw unknownModel(model)
    checkThinking(json)
  }
  const shared = { checkModel, headers: echoedId }
  const errorBody = arkErrorBody('sim')
  return keyedVendor({
    keys: options.keys,
    name: 'ark',
    prefix: '/ark/api/v3',
    requestIdHeader: 'x-request-id',
    scenarios: [],
    routes: [
      chatRoute({ ...shared, rules: RULES, errorBody }),
      embeddingsRoute({ ...shared, strict: false, dimensions: 64 }),
      ...responsesRoutes({
        ...shared,
        errorBody,
        check: checkBuiltInTools,
        extras: responseExtras,
        closing: [{ data: 'data: [DONE]\n\n' }],
      }),
      ...modelRoutes(models),
    ],
    failure: arkFailure,
    noPath: { code: 'NotFound', message: 'The path does not exist.' },
  })
}

/** Returns the caller's own id in addition to the service's. */
function echoedId({ request }: Exchange): Record<string, string> {
  const callerId = request.headers['x-client-request-id']
  return typeof callerId === 'string' ? { 'x-client-request-id': callerId } : {}
}

function checkThinking({ thinking }: Json): void {
  if (thinking === undefined) return
  const allowed = ['enabled', 'disabled', 'auto']
  if (isObject(thinking) && allowed.includes(text(thinking.type))) return
  const message = 'The parameter `thinking.type` specified in the request is not valid.'
  throw new Refused({ status: 400, code: 'InvalidParameter', param: 'thinking', message })
}

function checkBuiltInTools(exchange: Exchange, json: Json): void {
  for (const tool of objects(json.tools)) {
    const header = OPT_IN[text(tool.type)]
    if (header === undefined || exchange.request.headers[header] === 'true') continue
    const message = `The tool ${text(tool.type)} needs the header ${header}: true.`
    throw new Refused({ status: 400, code: 'InvalidParameter', param: 'tools', message })
  }
}

function responseExtras(json: Json): Json {
  const now = Math.floor(Date.now() / 1000)
  return {
    caching: isObject(json.caching) ? json.caching : { type: 'disabled' },
    expire_at: json.expire_at ?? now + 259_200,
    store: json.store ?? true,
  }
}
