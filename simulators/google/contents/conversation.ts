// Reads a request into the neutral form of the simulated model, and counts its media.
import { isObject, type Json, objects, text } from '../../kernel/checks.ts'
import type { Conversation, Turn } from '../../model/conversation.ts'
import { generationOf } from './models.ts'

export function contentsTurns(json: unknown): Turn[] {
  if (!isObject(json)) return []
  const { systemInstruction: system } = json
  const embedded = [json, ...objects(json.requests)].map(({ content }) => content)
  const turns = objects([...objects(json.contents), ...embedded]).flatMap(turnsOf)
  const instruction = isObject(system) ? textOf(objects(system.parts)) : ''
  return instruction === '' ? turns : [{ role: 'system', text: instruction }, ...turns]
}

const textOf = (parts: Json[]) => parts.map((part) => text(part.text)).join('')

function turnsOf(content: Json): Turn[] {
  const parts = objects(content.parts)
  const results = parts.flatMap(({ functionResponse: result }) =>
    isObject(result) ? [result] : [],
  )
  const turns: Turn[] = results.map(({ response }) => ({
    role: 'tool',
    text: resultText(response),
  }))
  if (results.length > 0) return turns
  const calls = parts.some((part) => part.functionCall !== undefined)
  return [{ role: content.role === 'model' ? 'assistant' : 'user', text: textOf(parts), calls }]
}

function resultText(response: unknown): string {
  if (!isObject(response)) return ''
  return text(response.output) || text(response.error) || JSON.stringify(response)
}

export function contentsConversation(json: Json): Conversation {
  const config = isObject(json.generationConfig) ? json.generationConfig : {}
  const tools = objects(json.tools).flatMap((tool) => objects(tool.functionDeclarations))
  const choice = isObject(json.toolConfig) ? json.toolConfig.functionCallingConfig : undefined
  const allowed =
    isObject(choice) && Array.isArray(choice.allowedFunctionNames)
      ? choice.allowedFunctionNames
      : undefined
  return {
    turns: contentsTurns(json),
    tools: tools
      .filter(({ name }) => allowed === undefined || allowed.includes(name))
      .map(({ name }) => ({ name: text(name) })),
    mayCallTools: !isObject(choice) || choice.mode !== 'NONE',
    maxTokens: typeof config.maxOutputTokens === 'number' ? config.maxOutputTokens : undefined,
    stop: Array.isArray(config.stopSequences) ? config.stopSequences.map(text) : [],
  }
}

export type Modality = 'IMAGE' | 'AUDIO' | 'VIDEO' | 'DOCUMENT'
export type MediaTokens = Record<Modality, number>

/** A video has a picture for each second and its sound. */
export function countMedia(json: Json, model: string): MediaTokens {
  const media: MediaTokens = { IMAGE: 0, AUDIO: 0, VIDEO: 0, DOCUMENT: 0 }
  const image = generationOf(model) < 3 ? 258 : 1120
  for (const type of mediaTypes(json)) {
    if (type.startsWith('audio/')) media.AUDIO += 96
    else if (type.startsWith('video/')) {
      media.VIDEO += 774
      media.AUDIO += 96
    } else if (type.startsWith('application/')) media.DOCUMENT += 560
    else media.IMAGE += image
  }
  return media
}

function mediaTypes(json: Json): string[] {
  const parts = objects(json.contents).flatMap((content) => objects(content.parts))
  const inner = parts.flatMap(({ functionResponse: result }) =>
    isObject(result) ? objects(result.parts) : [],
  )
  return [...parts, ...inner].flatMap(({ inlineData, fileData }) => {
    const media = inlineData ?? fileData
    return isObject(media) ? [text(media.mimeType) || 'image/jpeg'] : []
  })
}
