// Reads a Responses request as a neutral conversation.
import { isObject, type Json, objects, text, textOfParts } from '../../kernel/checks.ts'
import type { Conversation, OfferedTool, Turn } from '../../model/conversation.ts'
import { itemType } from './items.ts'

export const inputItems = (input: unknown): Json[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : objects(input)

function itemTurns(items: Json[]): Turn[] {
  const turns: Turn[] = []
  for (const item of items) {
    const turn = turnOf(item)
    const before = turns.at(-1)
    // The calls of one answer are separate items, but one round of the conversation.
    if (turn?.role === 'assistant' && before?.role === 'assistant') {
      before.text += turn.text
      if (turn.calls) before.calls = true
    } else if (turn) turns.push(turn)
  }
  return turns
}

function turnOf(item: Json): Turn | undefined {
  const type = itemType(item)
  if (type === 'message') {
    const role = item.role === 'assistant' ? 'assistant' : item.role === 'user' ? 'user' : 'system'
    return { role, text: textOfParts(item.content) }
  }
  if (type.endsWith('_output')) return { role: 'tool', text: textOfParts(item.output) }
  if (type === 'function_call' || type === 'custom_tool_call' || type === 'tool_search_call') {
    return { role: 'assistant', text: '', calls: true }
  }
  return undefined
}

export function responseConversation(json: Json, items: Json[]): Conversation {
  const instructions = text(json.instructions)
  const system: Turn[] = instructions === '' ? [] : [{ role: 'system', text: instructions }]
  const limit = json.max_output_tokens
  return {
    turns: [...system, ...itemTurns(items)],
    tools: offeredTools(json.tools),
    mayCallTools: json.tool_choice !== 'none',
    maxTokens: typeof limit === 'number' ? limit : undefined,
    stop: [],
  }
}

function offeredTools(tools: unknown, namespace?: string): OfferedTool[] {
  return objects(tools).flatMap((tool): OfferedTool[] => {
    const name = text(tool.name)
    if (tool.type === 'namespace') return offeredTools(tool.tools, name)
    if (tool.type !== 'function' && tool.type !== 'custom') return []
    const freeform = tool.type === 'custom' ? { freeform: true } : {}
    return [{ name, ...freeform, namespace }]
  })
}

export function responsesText(json: unknown): Turn[] {
  return isObject(json) ? itemTurns(inputItems(json.input)) : []
}
