/**
 * Writes a tool call as an output item. A chat upstream calls functions only; the tool map states
 * whether the caller knows the function as one, as a free-text tool, or as its tool search.
 */
import { isObject, type JsonObject, tryParseJson } from '../../../base/lib/json.ts'
import { readFreeText } from '../chat/free-text-tool.ts'
import {
  emitAdded,
  emitDone,
  type ItemPlace,
  type ItemStatus,
  type OutputItem,
  placeMembers,
} from './output-item.ts'
import type { CallerTool, ToolKind } from './tool-map.ts'

/** Id prefixes of the three kinds of calls. */
export const CALL_ID_PREFIXES: Readonly<Record<ToolKind, string>> = {
  function: 'fc',
  custom: 'ctc',
  tool_search: 'tsc',
}

export interface CallItem extends OutputItem {
  /** A fragment of the arguments' JSON text. */
  add(text: string): void
}

export function openCall(place: ItemPlace, tool: CallerTool, callId: string): CallItem {
  switch (tool.kind) {
    case 'function':
      return new FunctionCall(place, tool, callId)
    case 'custom':
      return new CustomCall(place, tool, callId)
    case 'tool_search':
      return new SearchCall(place, callId)
  }
}

function nameMembers({ name, namespace }: CallerTool): JsonObject {
  return { name, ...(namespace === undefined ? {} : { namespace }) }
}

class FunctionCall implements CallItem {
  private readonly place: ItemPlace
  private readonly head: JsonObject
  private text = ''

  constructor(place: ItemPlace, tool: CallerTool, callId: string) {
    this.place = place
    this.head = { id: place.id, type: 'function_call', call_id: callId, ...nameMembers(tool) }
    emitAdded(place, this.build('in_progress'))
  }

  add(text: string): void {
    if (text === '') return
    this.text += text
    this.emit('response.function_call_arguments.delta', `"delta":${JSON.stringify(text)}`)
  }

  close(status: ItemStatus): void {
    // Clients parse the arguments, so a call without any gets an empty object.
    if (this.text.trim() === '' && status === 'completed') this.add('{}')
    this.emit('response.function_call_arguments.done', `"arguments":${JSON.stringify(this.text)}`)
    emitDone(this.place, this.build(status))
  }

  build(status: ItemStatus): JsonObject {
    return { ...this.head, arguments: this.text, status }
  }

  private emit(type: string, members: string): void {
    this.place.emit(type, `${placeMembers(this.place)},${members}`)
  }
}

/** The free text is inside the JSON arguments, so it is sent once they are complete. */
class CustomCall implements CallItem {
  private readonly place: ItemPlace
  private readonly head: JsonObject
  private text = ''

  constructor(place: ItemPlace, tool: CallerTool, callId: string) {
    this.place = place
    this.head = { id: place.id, type: 'custom_tool_call', call_id: callId, ...nameMembers(tool) }
    emitAdded(place, { ...this.head, input: '', status: 'in_progress' })
  }

  add(text: string): void {
    this.text += text
  }

  close(status: ItemStatus): void {
    const at = placeMembers(this.place)
    const input = JSON.stringify(readFreeText(this.text))
    this.place.emit('response.custom_tool_call_input.delta', `${at},"delta":${input}`)
    this.place.emit('response.custom_tool_call_input.done', `${at},"input":${input}`)
    emitDone(this.place, this.build(status))
  }

  build(status: ItemStatus): JsonObject {
    return { ...this.head, input: readFreeText(this.text), status }
  }
}

/** Sent once complete: the dialect has no events for its arguments. */
class SearchCall implements CallItem {
  private readonly place: ItemPlace
  private readonly head: JsonObject
  private text = ''

  constructor(place: ItemPlace, callId: string) {
    this.place = place
    const { id } = place
    this.head = { id, type: 'tool_search_call', call_id: callId, execution: 'client' }
    emitAdded(place, this.build('in_progress'))
  }

  add(text: string): void {
    this.text += text
  }

  close(status: ItemStatus): void {
    emitDone(this.place, this.build(status))
  }

  build(status: ItemStatus): JsonObject {
    const parsed = tryParseJson(Buffer.from(this.text))
    return { ...this.head, arguments: isObject(parsed) ? parsed : {}, status }
  }
}
