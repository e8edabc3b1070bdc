// Amazon Bedrock with Claude, below `/bedrock`: the answers of Anthropic's simulator in AWS's
// frames, behind AWS's credentials and errors.

import { messageTurns } from '../anthropic/conversation.ts'
import { answerMessages } from '../anthropic/endpoint.ts'
import {
  type Exchange,
  type Failure,
  type Frame,
  type Reply,
  type Route,
  type Vendor,
  type WholeReply,
  whole,
} from '../kernel/exchange.ts'
import type { ScenarioName } from '../kernel/scenario.ts'
import { number } from '../kernel/scenario-names.ts'
import { scriptText } from '../model/conversation.ts'
import { chunkFrame, exceptionFrame } from './frames.ts'
import { checkModelId, modelRequest } from './request.ts'
import { type AccessKey, checkSignature, type Verdict } from './signature.ts'

export interface BedrockOptions {
  region: string
  keys: string[]
  accessKeys: AccessKey[]
  /** Inference profiles. */
  models: string[]
}

export const BEDROCK_DEFAULTS: BedrockOptions = {
  region: 'us-east-1',
  keys: ['sim-bedrock-key'],
  accessKeys: [
    { id: 'AKIASIMULATOR', secret: 'sim-bedrock-secret' },
    { id: 'ASIASIMULATOR', secret: 'sim-bedrock-secret', token: 'sim-bedrock-token' },
  ],
  models: ['global.anthropic.sim-claude-v1:0', 'us.anthropic.sim-claude-v1:0'],
}

const SCENARIOS: ScenarioName[] = [number('bad-checksum', 'frame number N has a wrong checksum')]

const NAMES: Record<number, string> = {
  400: 'ValidationException',
  401: 'UnrecognizedClientException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
}

const MESSAGES: Record<string, string> = {
  ThrottlingException: 'Too many requests, please wait before trying again.',
  AccessDeniedException: 'You don’t have access to the model with the specified model ID.',
  ServiceUnavailableException: 'Bedrock is unable to process your request.',
}

export function bedrock(options: BedrockOptions): Vendor {
  return {
    name: 'bedrock',
    prefix: '/bedrock',
    requestIdHeader: 'x-amzn-requestid',
    scenarios: SCENARIOS,
    routes: [
      invokeRoute('/model/{id}/invoke', false),
      invokeRoute('/model/{id}/invoke-with-response-stream', true),
      {
        method: 'GET',
        path: '/inference-profiles',
        operation: 'models',
        handle: () =>
          whole(200, {
            inferenceProfileSummaries: options.models.map((id) => {
              return { inferenceProfileId: id, status: 'ACTIVE', type: 'SYSTEM_DEFINED' }
            }),
          }),
      },
    ],
    authenticate: (exchange) => authenticate(exchange, options),
    failure,
    malformed: (exchange) => failure(exchange, { status: 400, message: 'Malformed input request' }),
    notFound: (exchange) =>
      failure(exchange, { status: 404, code: 'UnknownOperationException', message: 'unknown' }),
  }
}

function authenticate(exchange: Exchange, options: BedrockOptions): Reply | undefined {
  const { request, body } = exchange
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
  if (bearer !== undefined) {
    if (options.keys.includes(bearer)) return undefined
    return failure(exchange, {
      status: 403,
      message: 'Authentication failed: the API key is not valid',
    })
  }
  const verdict = checkSignature(request, body, options.accessKeys, options.region)
  return verdict === 'ok' ? undefined : failure(exchange, REFUSALS[verdict])
}

const REFUSALS: Record<Exclude<Verdict, 'ok'>, Failure> = {
  missing: {
    status: 403,
    code: 'MissingAuthenticationTokenException',
    message: 'Missing Authentication Token',
  },
  unknown: {
    status: 403,
    code: 'UnrecognizedClientException',
    message: 'The security token included in the request is invalid.',
  },
  expired: {
    status: 403,
    code: 'InvalidSignatureException',
    message: 'Signature expired: is now earlier than',
  },
  invalid: {
    status: 403,
    code: 'InvalidSignatureException',
    message: 'The request signature we calculated does not match the signature you provided.',
  },
}

function failure(_: Exchange, { status, code, message, retryAfterSeconds }: Failure): WholeReply {
  const name = code ?? NAMES[status] ?? 'InternalServerException'
  const headers: Record<string, string> = {
    'x-amzn-errortype': `${name}:http://internal.amazon.com/`,
  }
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
  const text = message ?? MESSAGES[name] ?? 'The request failed.'
  return whole(status, { message: text }, { headers, reason: `${status} ${name}` })
}

function invokeRoute(path: string, stream: boolean): Route {
  return {
    method: 'POST',
    path,
    operation: 'messages',
    text: (json) => scriptText(messageTurns(json)),
    handle: (exchange) => invoke(exchange, stream),
  }
}

function invoke(exchange: Exchange, stream: boolean): Reply {
  const model = decodeURIComponent(exchange.path.split('/')[2] ?? '')
  checkModelId(model)
  const { json, betas } = modelRequest(exchange.json, model, stream)
  const headers = { ...exchange.request.headers, 'anthropic-beta': betas.join(',') }
  const request = Object.create(exchange.request, { headers: { value: headers } })
  const reply = answerMessages({ ...exchange, json, request }, { ids: [model] })
  if (reply.kind !== 'stream') return reply
  const bad = exchange.scenario.number('bad-checksum')
  return {
    ...reply,
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    frames: reply.frames.map(toChunk).map((frame, at) => (at + 1 === bad ? damaged(frame) : frame)),
    error: (_, failed) => [
      exceptionFrame(
        camelCase(failed.code ?? NAMES[failed.status] ?? 'InternalServerException'),
        failed.message ?? 'The stream failed.',
      ),
    ],
    padding: (bytes) => toChunk({ data: `data: {"type":"ping","padding":"${'x'.repeat(bytes)}"}` }),
  }
}

/** In streams the names begin with a small letter. */
const camelCase = (name: string) => name.charAt(0).toLowerCase() + name.slice(1)

function toChunk(frame: Frame, at = 0): Frame {
  const data = /^data: (.*)$/m.exec(frame.data.toString())?.[1] ?? ''
  return { ...frame, data: chunkFrame(data, 'abcdefghij'.slice(0, at % 10)) }
}

function damaged(frame: Frame): Frame {
  const data = Buffer.from(frame.data)
  data[data.length - 1] = (data.at(-1) ?? 0) ^ 1
  return { ...frame, data }
}
