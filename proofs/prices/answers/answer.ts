/** Selects the vendor's answer for a path. */

import { chunkFrame } from '../../../simulators/bedrock/frames.ts'
import type { Case } from '../plan.ts'
import type { Work } from '../vendor/bill.ts'
import { replaceAnswer } from './broken.ts'
import { answerChat } from './chat.ts'
import { answerContents } from './contents.ts'
import {
  answerEmbeddings,
  answerImages,
  answerImageTokens,
  answerQwenImages,
  answerRerank,
  answerSizedImages,
  answerSpeech,
} from './media.ts'
import { answerMessages } from './messages.ts'
import { answerResponses } from './responses.ts'
import { EVENT_HEADERS, jsonScript, type Piece, type Script } from './script.ts'

interface AnswerOptions {
  readonly model: string
  readonly stream: boolean
}

export function answerFor(
  testCase: Case,
  work: Work,
  path: string,
  options: AnswerOptions,
): Script {
  const script = plainAnswer(testCase, work, path, options)
  return replaceAnswer(testCase.answer.breakage ?? '', script) ?? script
}

/** A cloud's path of a model, and whether the answer streams. */
const INVOKE = /^\/bedrock\/model\/[^/]+\/invoke(-with-response-stream)?$/

const RAW_PREDICT = /\/publishers\/anthropic\/models\/[^/]+:(rawPredict|streamRawPredict)$/

const GENERATE = /^\/google\/v1beta\/models\/[^/]+:(generateContent|streamGenerateContent)$/

function plainAnswer(
  testCase: Case,
  work: Work,
  path: string,
  { model, stream }: AnswerOptions,
): Script {
  const streams = INVOKE.exec(path)
  if (streams) return inFrames(answerMessages(testCase, work, streams[1] !== undefined, model))
  const predict = RAW_PREDICT.exec(path)?.[1]
  if (predict) return answerMessages(testCase, work, predict.startsWith('stream'), model)
  const generate = GENERATE.exec(path)?.[1]
  if (generate) return answerContents(testCase, work, generate.startsWith('stream'))
  switch (path) {
    case '/v1/chat/completions':
      return answerChat(testCase, work, stream, model)
    case '/v1/responses':
      return answerResponses(testCase, work, stream, model)
    case '/anthropic/v1/messages':
      return answerMessages(testCase, work, stream, model)
    case '/v1/embeddings':
      return answerEmbeddings(testCase, work, model)
    case '/rerank/v1/rerank':
    case '/rerank/v2/rerank':
      return answerRerank(work)
    case '/v1/images/generations':
      return testCase.model === 'pp-image-sizes'
        ? answerSizedImages(testCase, work)
        : answerImageTokens(testCase, work)
    case '/ark/images/generations':
      return answerImages(testCase, work, model)
    case '/dashscope/api/v1/services/aigc/multimodal-generation/generation':
      return answerQwenImages(testCase, work)
    case '/speech/api/v3/tts/unidirectional':
      return answerSpeech(testCase, work)
    default:
      return jsonScript({ error: { message: `nothing is at ${path}` } }, 404)
  }
}

/** Returns other scripts as they are. */
function inFrames(script: Script): Script {
  if (script.headers !== EVENT_HEADERS) return script
  const headers = { 'content-type': 'application/vnd.amazon.eventstream' }
  return { ...script, headers, pieces: framed(script.pieces) }
}

function* framed(pieces: Script['pieces']): Generator<Piece> {
  for (const piece of pieces) {
    const data = Buffer.isBuffer(piece) ? /^data: (.*)$/m.exec(piece.toString())?.[1] : undefined
    yield data === undefined ? piece : chunkFrame(data, 'padding')
  }
}
