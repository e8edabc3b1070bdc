// The answer: its parts in order, its usage, and the vendor's bill.
import { isObject, type Json, objects } from '../../kernel/checks.ts'
import type { Exchange } from '../../kernel/exchange.ts'
import { answerId } from '../../kernel/identifiers.ts'
import { type Answer, piecesOf, tokensPerPiece } from '../../model/answer.ts'
import type { MediaTokens } from './conversation.ts'
import { generationOf, signatureOf } from './models.ts'

export interface ContentsAnswer {
  answer: Answer
  model: string
  responseId: string
  media: MediaTokens
  pictures: number
  /** Tokens that a tool of the vendor's brought into the prompt. */
  toolTokens: number
  queries: string[]
  showsThoughts: boolean
  hasIds: boolean
}

const PICTURE_TOKENS = 1_290
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export function contentsAnswer(
  exchange: Exchange,
  model: string,
  answer: Answer,
  media: MediaTokens,
): ContentsAnswer {
  const { scenario } = exchange
  const json: Json = isObject(exchange.json) ? exchange.json : {}
  const config = isObject(json.generationConfig) ? json.generationConfig : {}
  const thinking = isObject(config.thinkingConfig) ? config.thinkingConfig : {}
  const searches = objects(json.tools).some((tool) => tool.googleSearch !== undefined)
  const wantsPicture =
    Array.isArray(config.responseModalities) && config.responseModalities.includes('IMAGE')
  return {
    answer,
    model,
    responseId: answerId(exchange, 'resp-'),
    media,
    pictures: wantsPicture || scenario.has('g_picture') ? 1 : 0,
    toolTokens: scenario.has('g_tooluse') || searches ? 512 : 0,
    queries: searches ? ['rivers of europe', '', 'longest river', 'rivers of europe'] : [],
    showsThoughts: thinking.includeThoughts === true,
    hasIds: !scenario.has('g_noids'),
  }
}

export interface PartStep {
  part: Json
  units: number
  thoughts?: boolean
}

/** The parts with the tokens of each: thoughts, text, calls, pictures. */
export function partSteps(contents: ContentsAnswer): PartStep[] {
  const { answer, model, showsThoughts } = contents
  const steps: PartStep[] = []
  if (answer.reason !== '') {
    const part = showsThoughts ? { text: answer.reason, thought: true } : undefined
    steps.push({ part: part ?? {}, units: answer.tokens.reason, thoughts: true })
  }
  if (answer.text !== '') {
    const pieces = piecesOf(answer)
    const units = tokensPerPiece(pieces)
    for (const [at, piece] of pieces.entries())
      steps.push({ part: { text: piece }, units: units[at] ?? 0 })
  }
  for (const [at, call] of answer.calls.entries()) {
    const id = contents.hasIds ? { id: `call-${contents.responseId}-${at}` } : {}
    const functionCall = { ...id, name: call.tool.name, args: argsOf(call.args) }
    // Of parallel calls the first alone is signed.
    const signed = at === 0 && generationOf(model) >= 3
    const signature = signed ? { thoughtSignature: signatureOf(model, call.tool.name) } : {}
    steps.push({ part: { functionCall, ...signature }, units: answer.tokens.calls[at] ?? 0 })
  }
  for (let picture = 0; picture < contents.pictures; picture += 1) {
    const inlineData = { mimeType: 'image/png', data: PICTURE }
    steps.push({
      part: { inlineData, thoughtSignature: signatureOf(model, 'picture') },
      units: PICTURE_TOKENS,
    })
  }
  return steps
}

function argsOf(args: string): Json {
  try {
    const parsed: unknown = JSON.parse(args)
    return isObject(parsed) ? parsed : {}
  } catch {
    return {}
  }
}

const sum = (media: MediaTokens) => Object.values(media).reduce((total, count) => total + count, 0)

/** Counts so far; `delivered` are the output tokens up to here, thoughts apart. */
export function usageOf(contents: ContentsAnswer, thoughts: number, candidates: number): Json {
  const { answer, media, toolTokens } = contents
  const prompt = answer.tokens.input + sum(media)
  const { cached } = answer.tokens
  const details = [
    { modality: 'TEXT', tokenCount: answer.tokens.input },
    ...Object.entries(media)
      .filter(([, count]) => count > 0)
      .map(([modality, tokenCount]) => ({ modality, tokenCount })),
  ]
  const pictures = Math.min(contents.pictures * PICTURE_TOKENS, candidates)
  const out = [
    ...(candidates > pictures ? [{ modality: 'TEXT', tokenCount: candidates - pictures }] : []),
    ...(pictures > 0 ? [{ modality: 'IMAGE', tokenCount: pictures }] : []),
  ]
  return {
    promptTokenCount: prompt,
    ...(cached > 0
      ? {
          cachedContentTokenCount: cached,
          cacheTokensDetails: [{ modality: 'TEXT', tokenCount: cached }],
        }
      : {}),
    ...(candidates > 0 ? { candidatesTokenCount: candidates, candidatesTokensDetails: out } : {}),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(toolTokens > 0 ? { toolUsePromptTokenCount: toolTokens } : {}),
    totalTokenCount: prompt + candidates + thoughts + toolTokens,
    promptTokensDetails: details,
  }
}

/** The bill: images, sound and pictures apart, tools as input, thoughts as output, searches. */
export function billOf(contents: ContentsAnswer): Record<string, number> {
  const { answer, media, pictures, toolTokens, queries } = contents
  const { input, cached, output } = answer.tokens
  const asked = new Set(queries.filter((query) => query !== '')).size
  const searches = generationOf(contents.model) < 3 ? Math.min(asked, 1) : asked
  const units = {
    input_token: input - cached + media.DOCUMENT + toolTokens,
    cached_input_token: cached,
    audio_input_token: media.AUDIO,
    image_input_token: media.IMAGE,
    video_input_token: media.VIDEO,
    output_token: output,
    image_output_token: pictures * PICTURE_TOKENS,
    web_search_call: searches,
  }
  return Object.fromEntries(Object.entries(units).filter(([, count]) => count > 0))
}

const FINISH: Record<string, string> = {
  end: 'STOP',
  tools: 'STOP',
  'stop-sequence': 'STOP',
  length: 'MAX_TOKENS',
  filter: 'SAFETY',
}

export function finishOf({ answer }: ContentsAnswer): string {
  return FINISH[answer.stop] ?? answer.stop
}

/** Spans count bytes, and the text begins with a character of several. */
export function groundingOf({ queries, answer }: ContentsAnswer): Json {
  if (queries.length === 0) return {}
  const end = Buffer.byteLength(answer.text)
  return {
    groundingMetadata: {
      webSearchQueries: queries,
      groundingChunks: [{ web: { uri: 'https://rivers.example/a', title: 'Rivers' } }],
      groundingSupports: [
        {
          segment: { startIndex: 0, endIndex: end, text: answer.text },
          groundingChunkIndices: [0],
        },
      ],
    },
  }
}

/** The whole text, in the form of the Gemini API; spans count bytes. */
export function quotesOf({ answer }: ContentsAnswer): Json {
  const endIndex = Buffer.byteLength(answer.text)
  const source = { startIndex: 0, endIndex, uri: 'https://code.example/b', license: 'mit' }
  return { citationMetadata: { citationSources: [source] } }
}
