/** Translates a chat request for an upstream that speaks the messages format. */
import { type JsonObject, member } from '../../lib/json.ts'
import { stringifyWellFormed } from '../../lib/text/well-formed.ts'
import { InvalidRequest } from '../invalid-request.ts'
import type { MessagesQuirks } from '../messages/quirks.ts'
import { translateChatMessages } from './translate-conversation.ts'
import { describeAnswerFormat, translateChatParameters } from './translate-parameters.ts'
import { type MessagesBlock, textBlock } from './translate-part.ts'
import { standInTools, translateChatTools } from './translate-tools.ts'
import type { MessagesTurn } from './turns.ts'

export interface TranslateChatRequestOptions {
  /** The upstream's own model id. */
  readonly upstreamModel: string
  readonly stream: boolean
  readonly quirks: MessagesQuirks
}

/**
 * Returns the body for the upstream. Throws `InvalidRequest` for unsupported requests, such as
 * several answers at once.
 */
export function translateChatRequest(
  request: JsonObject,
  { upstreamModel, stream, quirks }: TranslateChatRequestOptions,
): Buffer {
  const { system, messages: turns } = translateChatMessages(request.messages)
  if (turns.length === 0) throw new InvalidRequest('messages', 'must say something')
  const formatInstruction = describeAnswerFormat(request.response_format, quirks)
  const systemBlocks = formatInstruction === '' ? system : [...system, textBlock(formatInstruction)]
  const offered = translateChatTools(request, quirks)
  const tools = offered.tools === undefined ? standInTools(turns) : offered
  const canThink = !isForced(tools.tool_choice) && !answersUnsigned(turns)
  const parameters = translateChatParameters(
    request,
    canThink ? quirks : { ...quirks, reasoning: 'off' },
  )
  const body = {
    model: upstreamModel,
    ...(systemBlocks.length > 0 ? { system: systemBlocks } : {}),
    messages: 'thinking' in parameters ? turns : withoutThinking(turns),
    ...tools,
    ...parameters,
    ...(stream ? { stream } : {}),
  }
  return Buffer.from(stringifyWellFormed(body))
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
