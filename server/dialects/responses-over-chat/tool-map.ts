/**
 * Chat knows one kind of tool, a function with a name of 64 characters. The Responses dialect
 * also has free-text tools, tools in namespaces and the client's own tool search; each becomes a
 * function, and this map, made for one request, says what a call of that function means.
 */
import { createToolNames } from '../messages-over-chat/tool-names.ts'

export type ToolKind = 'function' | 'custom' | 'tool_search'

/** A tool as the caller knows it. */
export interface CallerTool {
  readonly kind: ToolKind
  readonly name: string
  readonly namespace?: string
}

export interface ToolMap {
  /** The function's name for a tool, the same at every call. The first call registers it. */
  readonly toChat: (tool: CallerTool) => string
  /** What the model called. A name that was never offered is a function of that name. */
  readonly fromChat: (name: string) => CallerTool
  /** The function's name for a tool of any kind that goes by this name, if there is one. */
  readonly find: (name: string, namespace?: string) => string | undefined
}

export function createToolMap(): ToolMap {
  const names = createToolNames()
  const chatNames = new Map<string, string>()
  const tools = new Map<string, CallerTool>()

  function register(tool: CallerTool): string {
    const full = `${tool.namespace ?? tool.kind}__${tool.name}`
    let chatName = names.toChat(tool.name)
    for (let attempt = 1; tools.has(chatName); attempt++) {
      chatName = names.toChat(attempt === 1 ? full : `${full}_${attempt}`)
    }
    tools.set(chatName, tool)
    return chatName
  }

  return {
    toChat(tool) {
      const key = toKey(tool.name, tool.namespace)
      const known = chatNames.get(key)
      if (known !== undefined) return known
      const chatName = register(tool)
      chatNames.set(key, chatName)
      return chatName
    },
    fromChat: (name) => tools.get(name) ?? { kind: 'function', name },
    find: (name, namespace) => chatNames.get(toKey(name, namespace)),
  }
}

function toKey(name: string, namespace = ''): string {
  return JSON.stringify([namespace, name])
}
