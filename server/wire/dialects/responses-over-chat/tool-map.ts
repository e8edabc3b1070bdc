/**
 * Maps tools to functions. Chat has only functions with names of 64 characters; the Responses
 * dialect also has free-text tools, tools in namespaces and the client's own tool search. Each
 * becomes a function, and this map of one request translates calls back.
 */
import { NAME_LENGTH_MAX } from '../invalid-request.ts'
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
  /** Returns the called tool. A name that was not offered becomes a function of that name. */
  readonly fromChat: (name: string) => CallerTool
  /** The function's name for a tool of any kind that goes by this name, if there is one. */
  readonly find: (name: string, namespace?: string) => string | undefined
}

export function createToolMap(): ToolMap {
  const names = createToolNames()
  const chatNames = new Map<string, string>()
  const tools = new Map<string, CallerTool>()
  /** The number of the next attempt for a full name that is taken. */
  const attempts = new Map<string, number>()

  function register(tool: CallerTool): string {
    const full = `${tool.namespace ?? tool.kind}__${tool.name}`
    let chatName = names.toChat(tool.name)
    let attempt = attempts.get(full) ?? 1
    for (; tools.has(chatName); attempt++) {
      chatName = names.toChat(attempt === 1 ? full : `${full}_${attempt}`)
    }
    attempts.set(full, attempt)
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
    find(name, namespace = '') {
      // No longer one was registered, and a map would compare it with all others of its length.
      const isLong = Math.max(name.length, namespace.length) > NAME_LENGTH_MAX
      return isLong ? undefined : chatNames.get(toKey(name, namespace))
    },
  }
}

function toKey(name: string, namespace = ''): string {
  return JSON.stringify([namespace, name])
}
