/** Selects the vendor's answer for a path. */

import type { Case } from '../plan.ts'
import type { Work } from '../vendor/bill.ts'
import { replaceAnswer } from './broken.ts'
import { answerChat } from './chat.ts'
import { answerEmbeddings, answerImages, answerImageTokens, answerSpeech } from './media.ts'
import { answerMessages } from './messages.ts'
import { answerResponses } from './responses.ts'
import { jsonScript, type Script } from './script.ts'

interface Asked {
  readonly model: string
  readonly stream: boolean
}

export function answerFor(one: Case, work: Work, path: string, asked: Asked): Script {
  const script = plainAnswer(one, work, path, asked)
  return replaceAnswer(one.answer.breakage ?? '', script) ?? script
}

function plainAnswer(one: Case, work: Work, path: string, { model, stream }: Asked): Script {
  switch (path) {
    case '/v1/chat/completions':
      return answerChat(one, work, stream, model)
    case '/v1/responses':
      return answerResponses(one, work, stream, model)
    case '/anthropic/v1/messages':
      return answerMessages(one, work, stream, model)
    case '/v1/embeddings':
      return answerEmbeddings(one, work, model)
    case '/v1/images/generations':
      return answerImageTokens(one, work)
    case '/ark/images/generations':
      return answerImages(one, work, model)
    case '/speech/api/v3/tts/unidirectional':
      return answerSpeech(one, work)
    default:
      return jsonScript({ error: { message: `nothing is at ${path}` } }, 404)
  }
}
