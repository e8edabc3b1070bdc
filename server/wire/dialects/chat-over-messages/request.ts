/** Translates a chat request for an upstream that speaks the messages format. */
import { type JsonObject, member } from '../../../base/lib/json.ts'
import { stringifyWellFormed } from '../../../base/lib/text/well-formed.ts'
import { InvalidRequest } from '../invalid-request.ts'
import type { MessagesQuirks } from '../messages/quirks.ts'
import { translateChatMessages } from './translate-conversation.ts'
import {
  describeAnswerFormat,
  listIgnoredByMessages,
  translateChatParameters,
} from './translate-parameters.ts'
import { type MessagesBlock, textBlock } from './translate-part.ts'
import { standInTools, translateChatTools } from './translate-tools.ts'
import type { MessagesTurn } from './turns.ts'

export interface TranslateChatRequestOptions {
  /** The upstream's own model id. */
  readonly upstreamModel: string
  readonly stream: boolean
  readonly quirks: MessagesQuirks
}

export interface TranslatedChatRequest {
  /** The body for the upstream. */
  readonly body: Buffer
  /** Members of the request that are not sent upstream. */
  readonly ignored: readonly string[]
}

/** Throws `InvalidRequest` for unsupported requests, such as several answers at once. */
export function translateChatRequest(
  request: JsonObject,
  { upstreamModel, stream, quirks }: TranslateChatRequestOptions,
): TranslatedChatRequest {
  const { system, messages: turns } = translateChatMessages(request.messages)
  if (turns.length === 0) throw new InvalidRequest('messages', 'must say something')
  const formatInstruction = describeAnswerFormat(request.response_format, quirks)
  const systemBlocks = formatInstruction === '' ? system : [...system, textBlock(formatInstruction)]
  const offered = translateChatTools(request, quirks)
  const tools = offered.tools === undefined ? standInTools(turns) : offered
  const canThink = !isForced(tools.tool_choice) && !isPrefill(turns) && !answersUnsigned(turns)
  const parameters = translateChatParameters(
    request,
    canThink ? quirks : { ...quirks, reasoning: 'off' },
  )
  const hasThinking = 'thinking' in parameters
  const body = {
    model: upstreamModel,
    ...(systemBlocks.length > 0 ? { system: systemBlocks } : {}),
    messages: hasThinking ? turns : withoutThinking(turns),
    ...tools,
    ...parameters,
    ...(stream ? { stream } : {}),
  }
  return {
    body: Buffer.from(stringifyWellFormed(body)),
    ignored: listIgnoredByMessages(request, hasThinking),
  }
}

/** The format refuses thinking if the caller prefills the answer. */
function isPrefill(turns: readonly MessagesTurn[]): boolean {
  return turns.at(-1)?.role === 'assistant'
}

/** The format refuses thinking together with a forced tool call. */
function isForced(choice: unknown): boolean {
  const type = member(choice, 'type')
  return type === 'any' || type === 'tool'
}

/**
 * It also requires the signed thinking before a call along with the result; most chat clients have
 * none.
 */
function answersUnsigned(turns: readonly MessagesTurn[]): boolean {
  const last = turns.at(-1)
  if (last?.role !== 'user' || last.content[0]?.type !== 'tool_result') return false
  return !isThinking(turns.at(-2)?.content[0])
}

function withoutThinking(turns: readonly MessagesTurn[]): readonly MessagesTurn[] {
  return turns.flatMap(({ role, content }) => {
    const rest = content.filter((block) => !isThinking(block))
    return rest.length > 0 ? [{ role, content: rest }] : []
  })
}

function isThinking(block: MessagesBlock | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking'
}
