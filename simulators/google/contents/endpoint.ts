// :generateContent and :streamGenerateContent, at both of the vendor's addresses.
import { isObject, type Json, objects, text, textOfParts } from '../../kernel/checks.ts'
import { dataEvent } from '../../kernel/events.ts'
import {
  type Charge,
  type Exchange,
  type Frame,
  Refused,
  type Reply,
  type Route,
  whole,
} from '../../kernel/exchange.ts'
import { bentUsage, usageSequence } from '../../kernel/usage.ts'
import { answerTo } from '../../model/answer.ts'
import { scriptText } from '../../model/conversation.ts'
import { withPromptCache } from '../../model/prompt-cache.ts'
import { tokensOf } from '../../model/tokens.ts'
import { googleError, invalid } from '../errors.ts'
import {
  billOf,
  type ContentsAnswer,
  contentsAnswer,
  finishOf,
  groundingOf,
  partSteps,
  quotesOf,
  usageOf,
} from './answer.ts'
import { contentsConversation, contentsTurns, countMedia } from './conversation.ts'
import { isKnownModel, signatureOf } from './models.ts'
import { oddPieces, oddUsage } from './oddities.ts'
import { checkContentsRequest, tokenAfter, tokensBefore } from './request.ts'

export function contentsRoute(path: string): Route {
  return {
    method: 'POST',
    path: `${path}/{id}`,
    operation: 'contents',
    text: (json) => scriptText(contentsTurns(json)),
    handle: (exchange) => answerContents(exchange),
  }
}

function answerContents(exchange: Exchange): Reply {
  const last = decodeURIComponent(exchange.path.split('/').at(-1) ?? '')
  const [, model = '', method = ''] = /^(.+):(\w+)$/.exec(last) ?? []
  if (!isKnownModel(model)) {
    throw new Refused({
      status: 404,
      message: `models/${model} is not found for API version v1beta.`,
    })
  }
  if (/^(?:e|batchE)mbedContents?$/.test(method)) return embed(exchange, model)
  const isStream = method === 'streamGenerateContent'
  if (!isStream && method !== 'generateContent') {
    throw new Refused({ status: 404, message: `Method ${method} not found.` })
  }
  const { json, scenario } = exchange
  checkContentsRequest(json, model)
  const conversation = contentsConversation(json)
  const script = withPromptCache(exchange, model, conversation)
  const answer = answerTo(conversation, script)
  answer.tokens.input += tokensBefore(json) ?? 0
  const contents = contentsAnswer(exchange, model, answer, countMedia(json, model))
  if (scenario.has('g_blocked')) return blocked(contents, isStream)
  const sse = new URLSearchParams(exchange.query).get('alt') === 'sse'
  return isStream ? streamed(exchange, contents, sse) : wholeAnswer(exchange, contents)
}

function chargeFor(contents: ContentsAnswer, reported: unknown): Charge {
  return { model: contents.model, units: billOf(contents), grows: 'output_token', reported }
}

/** The prompt is billed; there is no candidate. */
function blocked(contents: ContentsAnswer, isStream: boolean): Reply {
  const {
    output_token: _,
    image_output_token: __,
    web_search_call: ___,
    ...units
  } = billOf(contents)
  const usageMetadata = usageOf(contents, 0, 0)
  const body = {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    usageMetadata,
    modelVersion: contents.model,
    responseId: contents.responseId,
  }
  const charge = { model: contents.model, units, reported: usageMetadata }
  if (!isStream) return whole(200, body, { charge })
  return { kind: 'stream', status: 200, frames: [dataEvent(body)], charge, ...INSERTED }
}

const INSERTED = {
  error: () => [dataEvent(googleError({ status: 503, message: 'The model is overloaded.' }))],
  padding: (bytes: number) => dataEvent({ usageMetadata: {}, padding: 'x'.repeat(bytes) }),
}

function endOf({ scenario, json }: Exchange, contents: ContentsAnswer): Json {
  if (scenario.has('g_malformed'))
    return { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'no such call' }
  if (scenario.has('g_recitation')) return { finishReason: 'RECITATION' }
  if (scenario.has('g_unknownend')) return { finishReason: 'TIDAL_WAVE' }
  if (scenario.has('g_continuation') && !tokensBefore(isObject(json) ? json : {})) {
    const continuationToken = tokenAfter(contents.answer.tokens.output)
    return { finishReason: 'CONTINUATION', continuationToken }
  }
  return { finishReason: finishOf(contents) }
}

function wholeAnswer(exchange: Exchange, contents: ContentsAnswer): Reply {
  const { scenario } = exchange
  const has = (name: string) => scenario.has(name)
  const steps = partSteps(contents)
  const parts = steps.map(({ part }) => part).filter((part) => Object.keys(part).length > 0)
  const merged = mergeTexts(parts)
  if (has('g_marklast'))
    merged.push({ text: '', thoughtSignature: signatureOf(contents.model, 'text') })
  const usage = bentUsage(oddUsage(finalUsage(contents), has), scenario.text('usage'))
  const body = {
    candidates: [
      {
        content: { role: 'model', parts: merged },
        index: 0,
        ...endOf(exchange, contents),
        ...groundingOf(contents),
        ...(has('g_quotes') ? quotesOf(contents) : {}),
      },
    ],
    ...(usage === undefined ? {} : { usageMetadata: usage }),
    modelVersion: contents.model,
    responseId: contents.responseId,
  }
  return whole(200, body, { charge: chargeFor(contents, usage) })
}

function mergeTexts(parts: Json[]): Json[] {
  const merged: Json[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    const joins =
      last && part.text !== undefined && last.text !== undefined && last.thought === part.thought
    if (joins) last.text = text(last.text) + text(part.text)
    else merged.push({ ...part })
  }
  return merged
}

function tokens(contents: ContentsAnswer): { thoughts: number; candidates: number } {
  const steps = partSteps(contents)
  const of = (wanted: boolean) =>
    steps
      .filter(({ thoughts = false }) => thoughts === wanted)
      .reduce((sum, { units }) => sum + units, 0)
  return { thoughts: of(true), candidates: of(false) }
}

function finalUsage(contents: ContentsAnswer): Json {
  const { thoughts, candidates } = tokens(contents)
  return usageOf(contents, thoughts, candidates)
}

/** A vector for each text. Usage is stated on request alone, as the older API states none. */
function embed({ json, scenario }: Exchange, model: string): Reply {
  const body: Json = isObject(json) ? json : {}
  const requests = body.requests === undefined ? undefined : objects(body.requests)
  for (const request of requests ?? []) {
    if (request.model !== `models/${model}`) throw invalid('requests must name the same model')
  }
  const texts = (requests ?? [body]).map(({ content }) => {
    return isObject(content) ? textOfParts(content.parts) : ''
  })
  if (texts.length === 0 || texts.includes('')) throw invalid('content contains an empty Part.')
  const tokens = texts.reduce((sum, one) => sum + tokensOf(one), 0)
  const usage = scenario.has('g_usage') ? { usageMetadata: { promptTokenCount: tokens } } : {}
  const vectors = texts.map((one) => ({ values: [one.length, 0.5] }))
  const answer = requests ? { embeddings: vectors } : { embedding: vectors[0] }
  const charge = { model, units: { input_token: tokens }, reported: usage }
  return whole(200, { ...answer, ...usage }, { charge })
}

/** Each piece states the counts so far. Without `alt=sse` the pieces are a JSON list. */
function streamed(exchange: Exchange, contents: ContentsAnswer, sse: boolean): Reply {
  const { scenario } = exchange
  const has = (name: string) => scenario.has(name)
  const how = scenario.text('usage')
  const steps = partSteps(contents)
  let [thoughts, candidates] = [0, 0]
  const running = steps.map((step, at) => {
    if (step.thoughts) thoughts += step.units
    else candidates += step.units
    const usages = usageSequence(oddUsage(usageOf(contents, thoughts, candidates), has), how)
    const isLast = at === steps.length - 1
    const parts = Object.keys(step.part).length > 0 ? [step.part] : []
    if (isLast && has('g_marklast'))
      parts.push({ text: '', thoughtSignature: signatureOf(contents.model, 'text') })
    return {
      candidates: [
        {
          ...(parts.length > 0 ? { content: { role: 'model', parts } } : {}),
          index: 0,
          ...(isLast ? { ...endOf(exchange, contents), ...groundingOf(contents) } : {}),
          ...(isLast && has('g_quotes') ? quotesOf(contents) : {}),
        },
      ],
      ...(usages.at(-1) === undefined ? {} : { usageMetadata: usages.at(-1) }),
      modelVersion: contents.model,
      responseId: contents.responseId,
    }
  })
  const plain = running.length > 0 ? running : [emptyPiece(exchange, contents)]
  const pieces = oddPieces(plain, has)
  const units = (at: number) => {
    const step = steps[has('g_emptystop') ? at - 1 : at]
    return step === undefined || pieceIsPicture(step.part) ? 0 : step.units
  }
  const frames = pieces.map((piece, at) => frameOf(piece, at, pieces.length, units(at), sse))
  return {
    kind: 'stream',
    status: 200,
    headers: sse ? {} : { 'content-type': 'application/json; charset=UTF-8' },
    frames,
    charge: chargeFor(contents, isObject(pieces.at(-1)) ? pieces.at(-1)?.usageMetadata : undefined),
    ...INSERTED,
  }
}

const pieceIsPicture = (part: Json) => part.inlineData !== undefined

function emptyPiece(exchange: Exchange, contents: ContentsAnswer): Json {
  return {
    candidates: [{ index: 0, ...endOf(exchange, contents) }],
    usageMetadata: usageOf(contents, 0, 0),
    modelVersion: contents.model,
  }
}

/** The vendor ends lines with CR LF. */
function frameOf(piece: Json, at: number, count: number, units: number, sse: boolean): Frame {
  if (sse) return { data: `data: ${JSON.stringify(piece)}\r\n\r\n`, units }
  const lead = at === 0 ? '[' : ',\r\n'
  const tail = at === count - 1 ? ']' : ''
  return { data: lead + JSON.stringify(piece, undefined, 2) + tail, units }
}
