/** Reads the `tool_choice` of all text dialects. */

import { isObject, member } from '../../../../base/lib/json.ts'
import type { JsonPath } from '../../../../wire/dialects/cut-json.ts'
import { familiesOf, toolFamily } from './tool-family.ts'

export interface ToolChoice {
  /** True if some tool must be called. */
  readonly isForced: boolean
  /** The families of the one tool that must be called. */
  readonly families: readonly string[]
  /** The tools that may be called; undefined: all. */
  readonly allowed: readonly AllowedTool[] | undefined
}

export interface AllowedTool {
  readonly path: JsonPath
  readonly families: readonly string[]
}

const FREE: ToolChoice = { isForced: false, families: [], allowed: undefined }

export function readToolChoice(choice: unknown): ToolChoice {
  if (typeof choice === 'string') return readWord(choice)
  if (!isObject(choice)) return FREE
  const { type } = choice
  if (type === 'allowed_tools') {
    // Chat nests the list once more.
    const isNested = isObject(choice.allowed_tools)
    const list = isNested ? choice.allowed_tools : choice
    const path = isNested ? ['tool_choice', 'allowed_tools'] : ['tool_choice']
    return readAllowed(list, [...path, 'tools'])
  }
  const isWord = typeof type === 'string' && Object.hasOwn(WORDS, type)
  return isWord ? readWord(type) : { ...FREE, isForced: true, families: familiesOf(choice) }
}

const WORDS = { auto: false, none: false, any: true, required: true } as const

function readWord(word: string): ToolChoice {
  if (!Object.hasOwn(WORDS, word)) return { ...FREE, isForced: true, families: [toolFamily(word)] }
  return { ...FREE, isForced: WORDS[word as keyof typeof WORDS] }
}

function readAllowed(list: unknown, path: JsonPath): ToolChoice {
  const tools = member(list, 'tools')
  const allowed = (Array.isArray(tools) ? tools : []).map((tool: unknown, index) => {
    return { path: [...path, index], families: familiesOf(tool) }
  })
  return { isForced: member(list, 'mode') === 'required', families: [], allowed }
}
