// Reads a Messages request as a neutral conversation.
import { isObject, type Json, objects, text, textOfParts } from '../kernel/checks.ts'
import type { Conversation, OfferedTool, Turn } from '../model/conversation.ts'

export function messageTurns(json: unknown): Turn[] {
  if (!isObject(json)) return []
  const system = textOfParts(json.system)
  const turns: Turn[] = system === '' ? [] : [{ role: 'system', text: system }]
  for (const message of objects(json.messages)) turns.push(...turnsOf(message))
  return turns
}

function turnsOf(message: Json): Turn[] {
  const { content } = message
  const role = message.role === 'assistant' ? 'assistant' : systemOrUser(message.role)
  if (typeof content === 'string') return [{ role, text: content }]
  const blocks = objects(content)
  const results = blocks.filter((block) => block.type === 'tool_result')
  const texts = blocks.filter((block) => block.type === 'text')
  const calls = blocks.some((block) => block.type === 'tool_use')
  const turns: Turn[] = results.map((block) => {
    return { role: 'tool', text: textOfParts(block.content) }
  })
  if (texts.length > 0 || calls || results.length === 0) {
    turns.push({ role, text: textOfParts(texts), calls })
  }
  return turns
}

const systemOrUser = (role: unknown) => (role === 'system' ? 'system' : 'user')

export function messageConversation(json: Json): Conversation {
  const choice = isObject(json.tool_choice) ? json.tool_choice.type : undefined
  return {
    turns: messageTurns(json),
    tools: offeredTools(json.tools),
    mayCallTools: choice !== 'none',
    maxTokens: Number(json.max_tokens),
    stop: Array.isArray(json.stop_sequences) ? json.stop_sequences.map(text) : [],
  }
}

/** Server tools run at the vendor; the model never asks the caller to run them. */
function offeredTools(tools: unknown): OfferedTool[] {
  return objects(tools)
    .filter((tool) => !/^(web_search|web_fetch|code_execution)_/.test(text(tool.type)))
    .map((tool) => ({ name: text(tool.name) }))
}
